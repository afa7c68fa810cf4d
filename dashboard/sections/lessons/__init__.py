"""The parts of the page Lessons: its runs, its predictions, its outcomes. What the lessons say is
in dashboard/lessons.
"""
