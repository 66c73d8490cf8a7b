"""The program of this source, and a shop that it leaves up."""
import os, subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def oversell(*arguments, **options):
    """Starts the program without settings of this environment."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("OVERSELL_")}
    return subprocess.Popen([ROOT / ".ci/oversell", *arguments], stdout=subprocess.PIPE, text=True, env=mine, **options)


def up(*arguments, **options):
    """Starts a shop that stays up. Returns its process, and each address that it prints by the word before."""
    process, said = oversell("up", *arguments, **options), {}
    for line in process.stdout:
        said |= dict([line.split()[:2]]) if len(line.split()) > 1 else {}
        if line.startswith("Ctrl-C"):
            return process, said
    raise RuntimeError("the shop does not start")
