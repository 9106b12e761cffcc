"""Counts, bytes and durations as a person reads them: few digits and a unit."""


def number(value: float) -> str:
    """Write a count: in full below a million, then in millions (M) or thousands of them (G)."""
    if value < 1e6:
        return f"{value:,.0f}"
    return f"{value / 1e6:,.1f} M" if value < 1e9 else f"{value / 1e9:,.1f} G"


def size(num_bytes: float) -> str:
    """Write bytes in the unit that leaves few digits; 1 kB is 1,000 bytes."""
    for unit, worth in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if num_bytes >= worth:
            return f"{num_bytes / worth:,.1f} {unit}"
    return f"{num_bytes / 1e3:,.0f} kB"


def duration(seconds: float) -> str:
    """Write a duration in seconds, minutes, hours or days, two digits or more."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:,.1f} days"
