"""The backward model: it reviews a candidate in four fields, and may run probes first."""
