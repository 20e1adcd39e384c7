"""A question in, a decision out: features, head, thresholds, red flags, alarm; and how all of it is trained.

From outside: `decide`, `Lookout` (emergency.py), `load_red_flags`, `Explanation` (explain.py), and for training
`train_catalog`. Everything but training.py is pure. Imports: resources, text, batching, errors, ports, settings,
catalog, the files of languages.
"""
