"""Rankings of a task's candidates, and how well each chooses. No network is run here."""
