"""One vendor a module: SQL databases, Chroma, encoders, FHIR servers. They fulfil the Protocols of `bot/ports.py`.

From outside: only `bot/wiring.py` and commands build them. Imports: ports, outbox_ports, errors, settings,
private_files, text, batching.
"""
