"""What the words of a message say of its kind, where no rule knows it."""
