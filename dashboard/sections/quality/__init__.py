"""The parts of the page Forgetting quality: experiment, numbers, methods, samples."""
