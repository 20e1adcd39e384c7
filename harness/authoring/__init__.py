"""Drafting help for curators: models draft, clinicians decide. Nothing here is importable from the assistant.

`working` is how all of it asks a model: a piece of work is a generator that yields what it has to ask and is resumed
with what was read; `workshop` goes on with one in a folder. `evidence` drafts answers from documents, `discussion` has
two models improve a text, `quiz` makes questions that check understanding, `ranking` ranks texts by how far each helps
to solve tasks, `variants` has voices write as patients ask. Imports `judging`, `labelling`, `generation`, `patients`
and `llm`.
"""
