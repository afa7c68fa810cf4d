# The demo, to read, on one port:
#   docker build -t mucore . && docker run -p 8501:8501 mucore
# Who reaches it reads; the log has the presenter's address.
FROM python:3.12-slim
WORKDIR /app
COPY . .
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -c constraints.txt -e .
RUN useradd --create-home reader
USER reader
EXPOSE 8501
CMD ["python", "run_app.py", "--host", "0.0.0.0", "--audience", "--workers", "0", "--no-browser"]
