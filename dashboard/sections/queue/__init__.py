"""The parts of the page Queue: what runs, waits, stopped and ended; workers; disk."""
