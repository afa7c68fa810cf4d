"""`python -m mucore bench`: what this project is measured by. A file a question; `page.py` is what
they share.

    promises.py    is the promised speed kept? (bench)
    estimates.py   how right are the estimates of time? (bench --estimates)
    bare.py        the bare loop that training is compared with

Pages of the dashboard and lessons are measured by scripts/bench_pages.py and bench_lessons.py. All
write their own section of docs/benchmarks.md.
"""
