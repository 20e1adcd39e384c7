"""What leaves for a FHIR server: Bundles of conversations, the outbox, delivery, urgent Tasks.

From outside: `Handover`, `hand_over_rest` (handover.py), `make_bundle` (bundle.py), `push` (outbox.py), `Delivery`
(delivery.py), `RedFlagDelivery` (urgent.py), `cause_of`, `standing` (causes.py). Imports: talk, catalog, errors, ports,
outbox_ports, settings; of the interview: values, formulas, form, walk, manners.
"""
