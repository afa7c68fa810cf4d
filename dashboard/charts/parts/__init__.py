"""What figures share: axes, marks, intervals, subplots."""
