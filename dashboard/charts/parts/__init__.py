"""What figures share: how they begin, axes, panels, marks, names, pictures."""
