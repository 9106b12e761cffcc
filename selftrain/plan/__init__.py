"""What a run will take: completions, tokens, judgements, training steps, bytes, and time.

Worked out before anything runs, from the configuration (counts.py), the puzzles' own texts
(texts.py), the model's shape (weights.py), and where the model is at hand a short measurement
(probe.py). Nothing here is read by a run. `show_plan` in show.py is the command.
"""
