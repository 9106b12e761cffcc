"""What is run by hand now and then."""
