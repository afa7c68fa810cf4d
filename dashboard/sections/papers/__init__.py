"""The parts of the page Papers: exhibits, findings."""
