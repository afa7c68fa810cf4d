"""What figures share: how they begin, axes, panels, marks, intervals, names, pictures."""
