"""A patient's words become typed answers, by rules: German (with Swiss and Austrian habits) and English.

To import from outside: `reader.read` (an answer), `yesno.read_yes_no` (an answer to "is that right?"),
`command.read_command` ("back", "change my age"), the types in `reading` (`Asked` goes in, `Reading` comes out), what
units are called (`units.named_unit`, `unit_asked_for`, `unit_name`, `is_unusual`) and
`load_words.words_for`. The rest is machinery: a reply is cut (`tokens`), its number words are merged (`numbers`), the
reader of a type finds values (`dates`, `times`, `quantities`, `choices`, …), `found` weighs what is around them, and
`exactness` decides whether they must be read back. The words themselves are data: `words/*.yaml`.

May import: `bot.interview.values` and `bot.text`. No I/O but those word files, no clock, no randomness.
"""
