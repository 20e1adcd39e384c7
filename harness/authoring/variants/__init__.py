"""How patients ask, written by models in many voices, or borrowed: what a catalog and its thresholds learn from.

From outside: `load_voices` (voices.py), `Prompting`, `load_texts`, `neighbours_of` (asking.py), `Drafting`,
`Borrowing` (making.py), `borrow`, `Naming`, `Spoken`, `special_words`, `load_name_words` (borrowing.py),
`Sieve` (sifting.py), `taken_of`, `texts_to_keep_out` (taken.py), `Queue`, `write_queue` (queue.py),
`decide_one_by_one`, `review_words` (screen.py), `planned`, `load_curve` (plan.py). Imports `generation`, `labelling`,
`patients` and `llm`, and of `authoring` only `working` and `filled`.
"""
