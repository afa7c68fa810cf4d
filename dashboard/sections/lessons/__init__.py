"""The parts of the page Lessons: overview, runs, steps, predictions, outcomes, end. What the
lessons say is in dashboard/lessons.
"""
