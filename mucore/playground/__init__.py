"""The playground: a scene of points, and the real methods at work on it, a frame at a time.

`scene` is the record that a page makes, without torch; `stage` plays it; `python -m
mucore.playground` is a process that stays warm and plays what it is told.
"""

from mucore.playground.scene import METHODS, PRESETS, SETTINGS, Scene, points_of
