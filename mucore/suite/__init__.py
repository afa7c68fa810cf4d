"""`mucore suite`: benchmarks that are frozen as data, and packs of results that others can check.

`description` says what a suite is, `lines` which runs it asks for, and why some are missing. `pack`
writes and opens what travels, `verify` computes its numbers again, `repeat` makes one of its runs
again. `board` puts packs side by side, `frames` shows them on the page and on the `site`.
"""
