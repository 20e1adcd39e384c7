"""Any FHIR R4 Questionnaire as a conversation. Pure: no I/O, clock or randomness.

Rooms, each importing only those before it: values, formulas, form, rules, validate, walk, reading, manners. From
outside: `load_form` (load.py), `Interview` (manners), `Engine` and the state of a walk (walk), `read` and what else
`reading` offers, `check_response` and `check_questionnaire` (validate). Imports, beside its own rooms: text, errors.
"""
