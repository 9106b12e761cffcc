"""The judge against its peers: same programs, same machine, one run."""
