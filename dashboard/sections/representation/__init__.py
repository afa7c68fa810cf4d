"""The parts of the page t-SNE and CKA: one file a view."""
