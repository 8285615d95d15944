"""The layouts in which Python exceptions are printed, one module each."""
