"""The parts of pages: folder = page id, one tab or section a file, each with `show(...)`."""
