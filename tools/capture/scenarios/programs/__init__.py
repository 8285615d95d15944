"""Scenarios that run as programs of their own, each in one file at a path of its own, as a user's does."""
