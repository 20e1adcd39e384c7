"""Accounts and sessions of staff, the trail of what they did, drafts, signatures, and long work."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
TABLES = (
    "staff_people",
    "staff_sessions",
    "staff_acts_head",
    "staff_acts",
    "drafts",
    "draft_near_misses",
    "draft_signatures",
    "draft_origins",
    "jobs",
)
# Nobody changes or takes out what was noted, not even this program.
_SQLITE = """\
CREATE TRIGGER staff_acts_no_{verb} BEFORE {verb} ON staff_acts
BEGIN SELECT RAISE(ABORT, 'the trail is only ever added to'); END"""
_POSTGRESQL = """\
CREATE FUNCTION staff_acts_stay() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the trail is only ever added to'; END $$"""


def upgrade() -> None:
    """Create the tables."""
    _people()
    _trail()
    _drafts()
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("asked", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False, index=True),
        sa.Column("wanted", sa.Text(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("told", sa.String(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("beat", sa.DateTime(timezone=True)),
        sa.Column("ended", sa.DateTime(timezone=True)),
    )


def _people() -> None:
    op.create_table(
        "staff_people",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("login", sa.String(), nullable=False, unique=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded", sa.String(), nullable=False, unique=True),
        sa.Column("roles", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("password", sa.String()),
        sa.Column("code", sa.String()),
        sa.Column("code_at", sa.Integer(), nullable=False),
        sa.Column("closed", sa.Boolean(), nullable=False),
        sa.Column("wrong", sa.Integer(), nullable=False),
        sa.Column("closed_until", sa.DateTime(timezone=True)),
        sa.Column("issuer", sa.String()),
        sa.Column("subject", sa.String()),
        sa.UniqueConstraint("issuer", "subject"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "staff_sessions",
        sa.Column("hash", sa.String(), primary_key=True),
        sa.Column("person", sa.Integer(), sa.ForeignKey("staff_people.id"), nullable=False, index=True),
        sa.Column("begun", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("waits_for_code", sa.Boolean(), nullable=False),
    )


def _trail() -> None:
    op.create_table(
        "staff_acts_head",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
    )
    op.execute(f"INSERT INTO staff_acts_head (id, number, hash) VALUES (1, 0, '{'0' * 64}')")
    op.create_table(
        "staff_acts",
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False, index=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False, index=True),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(_SQLITE.format(verb=verb))
    else:
        op.execute(_POSTGRESQL)
        op.execute(
            "CREATE TRIGGER staff_acts_stay BEFORE UPDATE OR DELETE ON staff_acts "
            "FOR EACH ROW EXECUTE FUNCTION staff_acts_stay()"
        )


def _drafts() -> None:
    op.create_table(
        "drafts",
        sa.Column("exam", sa.String(), primary_key=True),
        sa.Column("language", sa.String(), primary_key=True),
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("content", sa.Text()),
        sa.Column("base", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("editors", sa.String(), nullable=False),
        sa.Column("changed_by", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "draft_near_misses",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("exam", sa.String(), nullable=False, index=True),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("pair", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "draft_signatures",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("exam", sa.String(), nullable=False, index=True),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "draft_origins",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("exam", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("pair", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("pseudonym", sa.String(), nullable=False, index=True),
    )


def downgrade() -> None:
    """Drop them: accounts, drafts and the trail are gone."""
    for table in reversed(TABLES):
        op.drop_table(table)
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION staff_acts_stay()")
