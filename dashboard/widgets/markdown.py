"""Texts as Markdown shows them."""

from __future__ import annotations

from dashboard.text import labels


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    return "".join("\\" + char if char in "\\`*_{}[]<>#$~|:" else char for char in text)


def metric_help(metric_id: str) -> str:
    """The tooltip of a metric: meaning, what a good value is, source, caveat."""
    title, text = labels.metric_text(metric_id)
    return f"**{title}.** {text}"
