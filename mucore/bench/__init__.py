"""`python -m mucore bench`: what this project is measured by. A file a question; `page.py` is what
they share.

    promises.py    is the promised speed kept? (bench)
    gpu.py         what of it holds on a GPU? (bench --gpu)
    peers.py       how fast are the methods beside torchunlearn's? (bench --peers)

    runs.py        one run of one method, and the bare loop that training is compared with

Pages of the dashboard are measured by scripts/bench_pages.py.
"""
