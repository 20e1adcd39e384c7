"""What a run is worth: automatic verdicts, models as judges, agreement of raters, and scores after their labels."""
