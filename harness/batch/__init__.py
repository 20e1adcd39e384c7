"""OpenAI's Batch API: hand in a file of requests, look after it, fetch the answers. The way to a million questions."""
