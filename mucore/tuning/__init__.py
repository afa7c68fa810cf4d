"""`mucore tune`: settings searched for each method under a task, with equal means.

`task` says what a task is, `objective` how much of the verdict's margin a network uses up, `judge`
runs a setting, `space` draws the next one, `study` keeps what was tried and what came of it,
`search` works on studies and `together` in several processes, `plan` says how long that takes.
"""
