"""One vendor a module: databases, Chroma, encoders, FHIR and terminology servers, as `bot/ports.py` wants them.

From outside: only `bot/wiring.py` and commands build them. Imports: ports, outbox_ports, staff, errors,
catalog, editorial, release, resources, settings, private_files, text, batching; `form` and `values` of the interview.
"""
