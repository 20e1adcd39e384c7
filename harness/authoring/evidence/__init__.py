"""Evidence drafting: a new pair from the hospital's own documents, after LLM-AMT (seed paper 003).

From outside: `read_documents`, `locate_documents` (documents.py), `passages_of`, `sentences` (passages.py),
`Retriever`, `Reach` (retrieval.py), `Drafter`, `Plan`, `load_texts`, `load_glossary` (drafting.py), `Proposal`
(proposal.py); what each part of the retrieval is worth: `load_targets`, `measured` (study.py), the filters
(filters.py), a map learned behind the encoder (tuning.py; who teaches it and what it gains: teaching.py); what raters
say of answers: `answers_in`, `read_form` (grading.py). Cross-encoders and SPLADE: transformers.py, loaded when a
model is named. Imports `working` and `llm`.
"""
