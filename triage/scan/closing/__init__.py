"""The last words of a source."""
