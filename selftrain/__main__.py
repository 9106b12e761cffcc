"""`python -m selftrain`, which `accelerate launch -m selftrain` starts once a process.

The command line itself is in cli.py.
"""

import sys

from selftrain.cli import console

if __name__ == "__main__":
    # A run writes down its command by the program's name, not by this file's.
    sys.argv[0] = "selftrain"
    console()
