"""The tabs of the room Reference: methods, words, papers."""
