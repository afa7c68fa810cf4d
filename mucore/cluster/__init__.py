"""Workers on many machines, placed and kept alive by Ray (the extra `cluster`).

Ray starts a worker on each GPU or share of the CPUs, restarts it where it dies and says when a
machine is gone. What must not be lost, the queue and the results, is in the store: Ray's head may
go and take nothing with it. `crew.py` alone imports Ray; `member.py` is what runs in its actors.
"""
