"""What leaves for a FHIR server: Bundles of conversations, the outbox, delivery, urgent Tasks.

From outside: `hand_over`, `Outbox`, `Delivery`, `UrgentDelivery`. Imports: talk, interview, catalog, ports.
"""
