"""Runs apart that one log or one launcher holds together."""
