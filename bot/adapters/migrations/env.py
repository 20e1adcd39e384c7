"""Alembic's entry point: the connection is handed over by `sql_records.migrate`."""

from alembic import context

from bot.adapters import sql_encryption, sql_interviews, sql_outbox, sql_presence, sql_probe
from bot.adapters.sql_tables import Base

# All modules with tables are loaded.
TABLES = (
    Base,
    sql_outbox.OutboxRow,
    sql_interviews.InterviewRow,
    sql_encryption.TextKeyRow,
    sql_presence.ServiceRow,
    sql_probe.WriteProbeRow,
)

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
