"""Figures, one a file: `<name>_info(...)` says what is drawn (tested by value), `draw(info)` draws
it. No Streamlit, no store.
"""
