"""Whether generated questions look like the patients who are said to ask them."""
