"""Releases: what patients may be shown, made of approved texts, numbered, hashed, signed; and the emergency stop.

From outside: `Contents` (contents.py) gathers an exam's files with what of them is approved; `Release`, `Releases`,
`make_manifest`, `unpack`, `differences` (release.py); `Publisher` (publishing.py); `InForce` (in_force.py); `Stops`
(stops.py). Imports: catalog, sentences, errors, resources, the files of languages; of the interview: values.
"""
