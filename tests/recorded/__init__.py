"""A recorded corpus of conversations: what was sent, and what came of it, byte for byte.

`conversations/` holds the recording, `forms/` the Questionnaires that some of it asks. `playing.py` plays a conversation,
`test_replay.py` compares, `record.py` records anew. Only `inside.py` knows the insides of `bot`: everything else enters by
doors that stay, the JSON API, the REST channel, the command line and files on disk.
"""
