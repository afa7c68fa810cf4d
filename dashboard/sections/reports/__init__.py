"""The parts of the page Reports: what goes in, its outline, the files."""
