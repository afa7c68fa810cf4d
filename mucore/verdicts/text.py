"""What sentences on several verdicts share."""

from __future__ import annotations


def doubt(unsure: int, count: int) -> str:
    """What follows "`count` forgot" where `unsure` of these verdicts may change with more seeds: ",
    2 of them not yet for certain"; "" where none may.
    """
    if not unsure:
        return ""
    return f", {'though' if unsure == count else f'{unsure} of them'} not yet for certain"
