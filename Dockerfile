# The demo, to read, on one port:
#   docker build -t mucore . && docker run -p 8501:8501 mucore
# No test builds it. Who reaches it reads; the log has the presenter's address.
FROM python:3.12-slim
WORKDIR /app
COPY . .
# an index with PyTorch for CPUs makes a smaller image: --build-arg PIP_EXTRA_INDEX_URL=ADDRESS
ARG PIP_EXTRA_INDEX_URL
RUN pip install --no-cache-dir -c constraints.txt -e .
RUN useradd --create-home reader
USER reader
EXPOSE 8501
CMD ["python", "run_app.py", "--host", "0.0.0.0", "--audience", "--workers", "0", "--no-browser"]
