"""The test harness: everything that talks to a language model, and everything that measures the assistant.

`cli.part` is hooked into the command line of `bot` by the entry-point group `klartext.parts`, `pytest_plugin` into
pytest. Of `bot`, rooms import the front door only. Every room may import `console`, `files` and `statistics`.
"""
