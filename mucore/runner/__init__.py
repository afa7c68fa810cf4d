"""From a grid of wishes to stored results: `plan` expands, `execute` computes one, `worker` takes
jobs, `executors` starts workers.
"""
