"""Researcher and decider: one agent holds a text and alone decides, another points out problems; a person accepts.

After Nair et al. (2023), DERA, seed paper 001. `dialogue` is their discussion over any text in sections,
`short_answers` the same over short answers with votes, `concepts` the measure that the paper calls GPT-F1,
`corruption` its experiment, `rating_form` the questions that it asked physicians.
From outside: `load_texts`, `find_pair`, `read_draft`, `pair_task`, `improve`, `read_conversation`,
`conversation_task`, `summarise`, `composition_of`, `advise`, `open_answer`, `corruption_experiment`, `table_of`,
`f1_of`, `Choice`, `tally`, `report`. Imports `working`, `submission`, `llm` and how `evidence` splits sentences.
"""
