"""The parts of the page Membership: five attacks, one run, its scores, its samples."""
