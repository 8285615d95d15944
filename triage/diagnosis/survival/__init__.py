"""Which errors a job got over, and how its runs and processes ended."""
