"""Alembic's entry point: the connection is handed over by `sql_records.migrate`."""

from alembic import context

from bot.adapters import (
    sql_acts,
    sql_encryption,
    sql_inbox,
    sql_jobs,
    sql_outbox,
    sql_people,
    sql_probe,
    sql_records,
    sql_releases,
    sql_staff,
    sql_witness,
    sql_workbench,
)
from bot.adapters.sql_tables import Base

# All modules with tables are loaded.
TABLES = (
    Base,
    sql_outbox.OutboxRow,
    sql_records.InterviewRow,
    sql_encryption.TextKeyRow,
    sql_encryption.ServiceRow,
    sql_probe.WriteProbeRow,
    sql_staff.CallRow,
    sql_staff.ActionRow,
    sql_staff.DeletedRow,
    sql_inbox.ItemRow,
    sql_acts.ActRow,
    sql_jobs.JobRow,
    sql_people.PersonRow,
    sql_releases.ReleaseRow,
    sql_witness.WitnessRow,
    sql_workbench.DraftRow,
)

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
