"""Studies of the matcher: what `docs/accuracy.md` shows, and how to make it again."""
