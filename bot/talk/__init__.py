"""One turn in, one stored reply out: what a message is, what is said to it, what is kept.

From outside: `Conversation` for who sits in front of it, `Reception` for channels without memory, `Interviewer`,
`open_chats` for tests. Imports: assistant, response, matching, wiring, settings, sentences, catalog, text, errors,
ports, outbox_ports, staff, the files of languages; of the interview: load, values, form, walk, reading, manners.
"""
