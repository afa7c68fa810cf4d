"""Figures, one a file. No Streamlit, no store.

The docstring of a figure's file says what it shows and, where a paper has that figure or its
numbers, in which one. Then come

- `draw(..., *, dark)`: the plotly figure of rows of a table or of a frame. `selected` is what a
  click gave: the key of a run, or the id of a row;
- `alt_text(...)`: the figure in a sentence or two, for a reader who cannot see it.

Methods are marks of `scatter` or lines of `dots`. What figures share stands in `parts/`.
`results_table` is the one that plotly does not draw: it is HTML.
"""
