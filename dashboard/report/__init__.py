"""The files that a page or a lesson becomes, and the blocks that they are made of. No Streamlit.
Texts are as shown: html.py escapes them.
"""

from dashboard.report.blocks import Block, Facts, Items, Link, Picture, Report, Section, Table, Text

__all__ = ["Block", "Facts", "Items", "Link", "Picture", "Report", "Section", "Table", "Text"]
