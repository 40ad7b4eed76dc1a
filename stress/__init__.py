"""Harnesses that try to break agents: kills, a failing model, many processes at once."""
