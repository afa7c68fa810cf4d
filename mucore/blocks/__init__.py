"""What methods are made of, beside the loop: only methods, training and probes import it."""
