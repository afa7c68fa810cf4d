"""Results as tables, LaTeX, Markdown and JSON, and networks as files."""
