"""`python -m mucore bench`: what this project is measured by. A file a question; `page.py` is what
they share.

    promises.py    is the promised speed kept? (bench)
    estimates.py   how right are the estimates of time? (bench --estimates)
    methods.py     what does every method cost against Retrain? (bench --methods)
    growth.py      how does its time grow with forget set, model and data? (bench --growth)
    gpu.py         what of it holds on a GPU? (bench --gpu)
    peers.py       how fast are the methods beside torchunlearn's? (bench --peers)

    bare.py        the bare loop that training is compared with
    runs.py        one run of one method, measured
    clock.py       seconds, and what repeated measurements say
    ledger.py      figures of a long pass, kept as they come
    bounds.toml    what a method cannot do without, by hand

Pages of the dashboard and lessons are measured by scripts/bench_pages.py and bench_lessons.py. All
write their own section of docs/benchmarks.md.
"""
