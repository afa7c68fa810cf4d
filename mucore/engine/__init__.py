"""The one training loop and the building blocks that methods share."""
