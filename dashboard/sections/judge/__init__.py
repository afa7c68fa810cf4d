"""The tab of Launch that judges a network of the reader's own."""
