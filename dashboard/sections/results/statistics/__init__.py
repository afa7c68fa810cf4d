"""The tab Statistics of Results: average ranks, agreement of metrics, paired tests."""
