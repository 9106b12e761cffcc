"""Tasks: where they come from, their candidates, executed and labelled. A file a source.

Nothing here learns or ranks; a task's record is in task.py, what results are in results.py.
"""
