"""What a comparison of rankings comes to: all numbers, a page, a table for a terminal."""
