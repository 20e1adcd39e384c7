"""A patient's words become typed answers, by rules: in each language (`bot/languages`).

To import from outside: `reader.read` (an answer) and `reader.read_command` ("back", "change my age"),
`yesno.read_yes_no` (an answer to "is that right?"), the types in `reading` (`Asked` goes in, `Reading` comes out),
what units are called (`quantities.named_unit`, `unit_asked_for`, `unit_name`, `is_unusual`), `vocabulary.words_for`
and `numbers.named_number` (a number in one word). The rest is machinery: a reply is cut into words (`vocabulary`),
its number words are merged (`numbers`), the reader of a type finds values (`choices` by their `labels`, `quantities`,
`dates`, `moments`), and `reading.settle` weighs what is around them. Each reader says whether a reply was just its
answer. Words, units and well-known quantities are data: `words/*.yaml` (German with Swiss and Austrian habits,
English), `quantities.yaml`.

May import: `bot.interview.values`, `bot.text` and the files of languages. No I/O but those files, no clock, no
randomness.
"""
