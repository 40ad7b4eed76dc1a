"""Dory: a long-lived agent that forgets gracefully. The rooms of the house and their floors are listed in CONTRIBUTING.md."""
