"""`python -m twofold`: the command line."""

from twofold.cli.main import app

app()
