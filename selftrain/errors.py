"""The two ways in which a command ends badly that a person can do something about."""


class UsageError(Exception):
    """What was asked for is wrong: a setting, a file, a folder. One sentence; exit code 2."""


class RunError(Exception):
    """The run could not go on. One sentence; exit code 1."""
