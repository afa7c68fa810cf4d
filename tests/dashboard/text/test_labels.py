"""What captions say of runs and settings."""

import pytest

from dashboard.text import labels


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [(5e-8, 1, "5 × 10⁻⁸"), (9.7e-9, 1, "10⁻⁸"), (3.14e-12, 2, "3.1 × 10⁻¹²")],
)
def test_small_numbers_are_written_with_a_power_of_ten(value, digits, said):
    assert labels.powered(value, digits) == said
