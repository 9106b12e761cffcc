"""What is refined: puzzles, functions and programs, each with what a model may see of it."""
