"""The post-mortem under Slurm: facts from accounting and hooks, the job's logs, and one answer from both."""
