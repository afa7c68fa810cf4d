"""The tab Board of Results: all tasks of a suite, and one of them."""
