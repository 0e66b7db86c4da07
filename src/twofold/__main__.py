"""`python -m twofold`: the command line."""

from twofold.cli.main import app

if __name__ == "__main__":
    app()
