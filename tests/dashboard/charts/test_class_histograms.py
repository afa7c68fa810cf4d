"""Images of each class by split."""

from __future__ import annotations

import numpy as np
from facts import tells

from dashboard.charts import class_histograms

# rows true, columns predicted: retain 6 of a and 2 of b, forget 1 and 3
COUNTS = {
    "retain": [[5, 1], [0, 2]],
    "forget": [[0, 1], [2, 1]],
    "test": [[3, 0], [1, 0]],
    "downstream/x": [[9]],
}


def test_classes_are_counted_by_their_true_label_and_training_is_both_sets():
    info = class_histograms.class_histograms_info(COUNTS, ("a", "b"))
    assert info is not None and info.of == "Class"
    counts = {bars.split: bars.counts for panel in info.panels for bars in panel}
    assert counts == {"train": (7, 5), "test": (3, 1), "retain": (6, 2), "forget": (1, 3)}
    assert [bars.shares for bars in info.panels[1]] == [(75.0, 25.0), (25.0, 75.0)]
    assert list(class_histograms.table(info)["Forget set"]) == [1, 3]
    alt = class_histograms.alt_text(info)
    assert tells(alt, "Forget set", 4, "most b", "75.0 %", "fewest a", "25.0 %")
    for dark in (False, True):
        figure = class_histograms.draw(info, dark=dark)
        assert [trace.name for trace in figure.data] == [
            "Training, 12 images",
            "Test, 4 images",
            "Retain set, 8 images",
            "Forget set, 4 images",
        ]
        assert list(figure.data[3].y) == [25.0, 75.0] and list(figure.data[3].customdata) == [1, 3]


def test_attributes_count_the_images_that_have_them():
    """Two attributes of ten images: 4 are male, 7 young; rows are the true answer, no and yes."""
    counts = np.array([[[5, 1], [1, 3]], [[3, 0], [2, 5]]])
    info = class_histograms.class_histograms_info(
        {"retain": counts, "forget": counts}, ("male", "young")
    )
    assert info is not None and info.of == "Attribute"
    retain = next(bars for bars in info.panels[1] if bars.split == "retain")
    assert (retain.counts, retain.images, retain.shares) == ((4, 7), 10, (40.0, 70.0))
    assert info.panels[0][0].images == 20
