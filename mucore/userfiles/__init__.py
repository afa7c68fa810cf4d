"""Files of a user: data sets and weights, known by what is in them. No torch."""
