"""The verifier itself: what it reads, the network, how it learns, what it says of candidates."""
