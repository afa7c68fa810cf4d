"""Figures, one a file, all of one shape. No Streamlit, no store.

The docstring of a figure's file says what it shows and, where a paper has that figure or its
numbers, in which one. Then come

- what is drawn, where lines of a table or a frame do not say it already: `<Figure>Info`, a frozen
  dataclass, made by `<figure>_info(...)`; tests look at its values;
- `draw(info, *, dark, ...)`: the plotly figure. `selected` is what a click gave: the key of a run,
  or the id of a row or a line;
- `alt_text(info)`: the figure in a sentence or two, for a reader who cannot see it;
- `table(info)`, where readers may download the numbers.

What figures share stands in `parts/`: how they begin, ranges, words and legends (`axes`), panels
(`subplots`), marks of methods (`scatter`, `families`), intervals, names beside marks, histograms,
log axes. `results_table` is the one that plotly does not draw: it is HTML.
"""
