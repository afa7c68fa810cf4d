"""The parts of the page Start: lessons, findings, next steps, newest runs, workers."""
