"""The page for patients: rendered here, complete without JavaScript, a little quicker with it."""
