"""Who wrote a line, by what was put before it that no known prefix is."""
