"""The hard gate: what a machine can check of a candidate without its hidden tests."""
