"""What `scripts/fault_campaign.py` does to mucore, a file for each kind of trouble."""
