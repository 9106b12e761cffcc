"""One program over several processes, started by `accelerate launch` or `torchrun`.

Rank 0 is the whole program, as it is alone; the others serve it (serve.py): they sample
and train when told to, and write nothing but weights that all save together. No scheduling is here:
who samples what is decided in sampling/launched.py, how processes train together in finetune.
"""

from selftrain.processes.crew import Crew, Held, current_crew, everywhere

__all__ = ["Crew", "Held", "current_crew", "everywhere"]
