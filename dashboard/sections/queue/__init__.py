"""The parts of the page Queue: what runs, waits, stopped and ended; workers; disk; and what the
buttons do (`actions`), Cancel all of `views/queue.py` among them.
"""
