"""The launch page in sections: data and recipe, what to forget, who forgets it, what results depend
on, and what it comes to.
"""
