"""Patients who wait for a person: calls, what staff do about them, and who is told when nobody does.

From outside: `Call`, `Action`, `Calls`, `CallKind`, `Stir` (calls.py), `Desk` (desk.py), `Escalation`, `Contact`,
`Notice` (escalation.py). Imports: errors, outbox_ports.
"""
