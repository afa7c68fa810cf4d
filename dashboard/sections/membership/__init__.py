"""The parts of the page Membership: five attacks, one run sample by sample."""
