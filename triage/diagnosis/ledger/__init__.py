"""The rank ledger, and what follows from it: who is awaited, by whom, and why."""
