"""Whether paraphrases still ask what their pair asks, and what accuracy is when some do not."""
