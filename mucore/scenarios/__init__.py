"""What a scenario chooses to forget, and what an attack changes. No torch."""
