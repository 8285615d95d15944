"""Candidate causes, what they explain of each other, and which of them is the root."""
