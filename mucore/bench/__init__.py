"""`python -m mucore bench`: what this project is measured by. A file a question; `page.py` is what
they share.

    promises.py    is the promised speed kept? (bench)
    gpu.py         what of it holds on a GPU, plain and as graphs? (bench --gpu)

Pages of the dashboard are measured by scripts/bench_pages.py.
"""
