"""``python -m triage``."""

from triage.cli.main import run

if __name__ == "__main__":
    run()
