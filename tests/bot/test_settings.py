"""Settings come from the environment once; patient text stays unless the operator says otherwise."""

import re
from dataclasses import fields
from pathlib import Path

import platformdirs
import pytest

from bot import Settings, Unreachable, UserFixable
from bot.settings import FhirAccess, Retention


def test_every_setting_has_a_variable() -> None:
    settings = Settings.from_environment(
        {
            "KLARTEXT_DATA": "/srv/klartext",
            "KLARTEXT_CHROMA_URL": "http://c",
            "KLARTEXT_DATABASE_URL": "sqlite://",
            "KLARTEXT_EMBEDDINGS_URL": "http://e",
            "KLARTEXT_EMBEDDINGS_KEY": "ek",
            "KLARTEXT_MODEL_URL": "http://m",
            "KLARTEXT_MODEL_KEY": "mk",
            "KLARTEXT_ALLOW_PATIENT_TEXT_TO": "a.example.org, b.example.org,",
            "KLARTEXT_CHANNEL_TOKEN": "t" * 20,
            "KLARTEXT_TRUSTED_PROXIES": "10.0.0.1, 10.0.0.2",
            "KLARTEXT_REQUESTS_PER_MINUTE": "7",
            "KLARTEXT_TURNS_PER_MINUTE": "8",
            "KLARTEXT_TEXT_KEY": "k1,k2",
            "KLARTEXT_KEEP_CONVERSATIONS_DAYS": "1",
            "KLARTEXT_KEEP_QUESTIONS_DAYS": "2",
            "KLARTEXT_KEEP_COMMENTS_DAYS": "3",
            "KLARTEXT_KEEP_INTERVIEWS_DAYS": "4",
            "KLARTEXT_KEEP_SENT_DAYS": "5",
            "KLARTEXT_PURGE": "off",
            "KLARTEXT_DICTATION": "vendor",
            "KLARTEXT_IDLE_MINUTES": "6",
            "KLARTEXT_SEAL_KEY": "s" * 20,
        }
    )

    assert settings == Settings(
        data=Path("/srv/klartext"),
        chroma_url="http://c",
        database_url="sqlite://",
        embeddings_url="http://e",
        embeddings_key="ek",
        model_url="http://m",
        model_key="mk",
        allow_patient_text_to=frozenset({"a.example.org", "b.example.org"}),
        channel_token="t" * 20,
        trusted_proxies=("10.0.0.1", "10.0.0.2"),
        requests_per_minute=7,
        turns_per_minute=8,
        text_keys="k1,k2",
        retention=Retention(conversations=1, questions=2, comments=3, interviews=4, sent=5),
        purge_daily=False,
        dictation="vendor",
        idle_minutes=6,
        seal_key="s" * 20,
    )


def test_every_fhir_setting_has_a_variable() -> None:
    names = {
        "URL": "https://f",
        "TOKEN_URL": "https://t",
        "CLIENT_ID": "k",
        "CLIENT_SECRET": "s",
        "CLIENT_SECRET_FILE": "/s",
        "KEY_FILE": "/k",
        "KEY_ID": "k1",
        "AUTH": "post",
        "SCOPE": "system/*.cu",
        "CA_FILE": "/ca",
        "IDS": "client",
        "PATIENT_SYSTEM": "https://p",
        "APPOINTMENT_SYSTEM": "https://a",
        "ORDER_SYSTEM": "urn:oid:1.2",
        "ACCESSION_SYSTEM": "https://c",
    }

    access = Settings.from_environment({f"KLARTEXT_FHIR_{name}": value for name, value in names.items()}).fhir

    assert access == FhirAccess(
        url="https://f",
        token_url="https://t",
        client_id="k",
        client_secret="s",
        client_secret_file=Path("/s"),
        key_file=Path("/k"),
        key_id="k1",
        auth="post",
        scope="system/*.cu",
        ca_file=Path("/ca"),
        ids="client",
        patient_system="https://p",
        appointment_system="https://a",
        order_system="urn:oid:1.2",
        accession_system="https://c",
    )
    assert len(names) == len(fields(FhirAccess))


@pytest.mark.parametrize(
    ("environ", "auth"),
    [
        ({}, "none"),
        ({"KLARTEXT_FHIR_CLIENT_SECRET": "s"}, "basic"),
        ({"KLARTEXT_FHIR_CLIENT_SECRET_FILE": "/s"}, "basic"),
        ({"KLARTEXT_FHIR_KEY_FILE": "/k", "KLARTEXT_FHIR_CLIENT_SECRET": "s"}, "jwt"),
        ({"KLARTEXT_FHIR_KEY_FILE": "/k", "KLARTEXT_FHIR_AUTH": "none"}, "none"),
    ],
)
def test_what_is_there_suggests_how_to_authenticate(environ: dict[str, str], auth: str) -> None:
    assert Settings.from_environment(environ).fhir.auth == auth


@pytest.mark.parametrize("name", ["APPOINTMENT", "ORDER", "ACCESSION"])
@pytest.mark.parametrize("value", ["orders", "urn:orders", "https://a b", "https://a|b"])
def test_a_system_that_is_no_uri_is_refused(name: str, value: str) -> None:
    with pytest.raises(UserFixable, match=f"KLARTEXT_FHIR_{name}_SYSTEM is"):
        Settings.from_environment({f"KLARTEXT_FHIR_{name}_SYSTEM": value})


def test_portals_have_a_name_and_a_key_each() -> None:
    environ = {"KLARTEXT_PORTAL_KEYS": f"ris:{'k' * 32}, app-2:{'l' * 32}"}

    settings = Settings.from_environment(environ)

    assert settings.portals == {"ris": "k" * 32, "app-2": "l" * 32}
    assert "kkk" not in repr(settings)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (f"ris:{'k' * 31}", "The key of 'ris' in KLARTEXT_PORTAL_KEYS has 31 characters and needs 32"),
        ("k" * 40, "Entry 1 of KLARTEXT_PORTAL_KEYS is not NAME:KEY"),
        (f"a:{'k' * 32},a:{'l' * 32}", "Entry 2 of KLARTEXT_PORTAL_KEYS"),
    ],
)
def test_a_portal_that_cannot_be_meant_is_refused_without_its_key(value: str, said: str) -> None:
    with pytest.raises(UserFixable) as raised:
        Settings.from_environment({"KLARTEXT_PORTAL_KEYS": value})

    assert said in str(raised.value)
    assert "kkk" not in str(raised.value)


def test_servers_that_patients_may_come_from_have_a_client_each(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("what nobody reads\n", encoding="utf-8")
    listed = f"https://a.example.org/r4 klartext,\n https://b.example.org/r4/  our-id {file}, http://127.0.0.1:1/fhir k"

    settings = Settings.from_environment({"KLARTEXT_SMART": listed, "KLARTEXT_PUBLIC_URL": "https://chat.example.org/"})

    assert [(each.issuer, each.client_id, each.secret) for each in settings.smart] == [
        ("https://a.example.org/r4", "klartext", None),
        ("https://b.example.org/r4/", "our-id", "what nobody reads"),
        ("http://127.0.0.1:1/fhir", "k", None),
    ]
    assert settings.public_url == "https://chat.example.org"
    assert "nobody reads" not in repr(settings)


@pytest.mark.parametrize(
    "value",
    [
        "https://a.example.org/r4",
        "klartext https://a.example.org/r4",
        "http://a.example.org/r4 klartext",
        "https://user:secret@a.example.org/r4 klartext",
        "https://a.example.org/r4?x=1 klartext",
        "https://a.example.org/r4#x klartext",
        "https://[ klartext",
        "https://b.example.org k, https://b.example.org/ k",
        "https://a.example.org/r4 klartext /secret and-more",
    ],
)
def test_a_server_that_cannot_be_meant_is_refused_without_being_quoted(value: str) -> None:
    with pytest.raises(UserFixable, match=r"Entry \d of KLARTEXT_SMART is not") as raised:
        Settings.from_environment({"KLARTEXT_SMART": value})

    assert "example.org" not in str(raised.value)


def test_a_file_with_a_clients_secret_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserFixable, match=r"Entry 1 of KLARTEXT_SMART names .*which cannot be read"):
        Settings.from_environment({"KLARTEXT_SMART": f"https://a.example.org klartext {tmp_path / 'none'}"})


@pytest.mark.parametrize(
    "value",
    ["chat.example.org", "http://chat.example.org", "https://chat.example.org/klartext", "https://u@h", "https://"],
)
def test_a_public_address_has_no_path_and_is_encrypted(value: str) -> None:
    with pytest.raises(UserFixable, match="KLARTEXT_PUBLIC_URL is"):
        Settings.from_environment({"KLARTEXT_PUBLIC_URL": value})


@pytest.mark.parametrize("name", ["KLARTEXT_FHIR_AUTH", "KLARTEXT_FHIR_IDS"])
def test_a_word_that_is_none_of_the_choices_is_told(name: str) -> None:
    with pytest.raises(UserFixable, match=f"{name} is 'magic'. Set it to one of"):
        Settings.from_environment({name: "magic"})


def test_an_explicit_folder_wins_over_the_variable_and_that_over_the_platform() -> None:
    environ = {"KLARTEXT_DATA": "/from/environment"}

    assert Settings.from_environment(environ, data=Path("/explicit")).data == Path("/explicit")
    assert Settings.from_environment(environ).data == Path("/from/environment")
    assert Settings.from_environment({}).data == Path(platformdirs.user_data_dir("klartext", appauthor=False))


def test_an_empty_variable_is_an_absent_one() -> None:
    settings = Settings.from_environment({"KLARTEXT_DATA": "", "KLARTEXT_CHROMA_URL": ""})

    assert settings == Settings.from_environment({})


def test_a_tilde_is_the_home_folder() -> None:
    assert Settings.from_environment({"KLARTEXT_DATA": "~/k"}).data == Path.home() / "k"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "http://localhost/v1",
        "http://[::1]:8080/v1",
        "https://Named.Example.org/v1",
        "tcp://127.0.0.1:8786",
        "tls://named.example.org:8786",
    ],
)
def test_patient_text_may_go_to_loopback_and_named_hosts(tmp_path: Path, url: str) -> None:
    settings = Settings(data=tmp_path, allow_patient_text_to=frozenset({"named.example.org"}))

    assert settings.may_send_patient_text_to(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example.org/v1",
        "https://named.example.org.evil.org/v1",
        "https://localhost.evil.org/v1",
        "https://named.example.org@evil.org/v1",
        "",
        "127.0.0.1",
    ],
)
def test_patient_text_goes_nowhere_else(tmp_path: Path, url: str) -> None:
    settings = Settings(data=tmp_path, allow_patient_text_to=frozenset({"named.example.org"}))

    with pytest.raises(UserFixable, match="would leave this machine to"):
        settings.require_patient_text_allowed(url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://named.example.org/v1", "to 'named.example.org' unencrypted, by http"),
        ("tcp://named.example.org:8786", "to 'named.example.org' unencrypted, by tcp"),
        ("ucx://named.example.org:8786", "to 'named.example.org' unencrypted, by ucx"),
        ("127.0.0.1/v1", "to an address without a host"),
        ("https://other.example.org./v1", "KLARTEXT_ALLOW_PATIENT_TEXT_TO=other.example.org."),
        ("http://localhost./v1", "KLARTEXT_ALLOW_PATIENT_TEXT_TO=localhost."),
    ],
)
def test_what_keeps_patient_text_here_is_said_with_what_to_set(tmp_path: Path, url: str, said: str) -> None:
    settings = Settings(data=tmp_path, allow_patient_text_to=frozenset({"named.example.org"}))

    with pytest.raises(UserFixable) as caught:
        settings.require_patient_text_allowed(url)
    assert said in str(caught.value)
    assert ".." not in str(caught.value)
    assert "None" not in str(caught.value)


def test_a_data_folder_is_created_and_left_clean(tmp_path: Path) -> None:
    folder = Settings(data=tmp_path / "deep" / "data").writable_data()

    assert list(folder.iterdir()) == []


def test_a_data_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(Unreachable, match=r"data folder .*/file/data cannot be written \(Not a directory\).*--data"):
        Settings(data=tmp_path / "file" / "data").writable_data()


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_limit_is_a_whole_number(value: str) -> None:
    with pytest.raises(UserFixable, match=r"KLARTEXT_TURNS_PER_MINUTE is .* whole number"):
        Settings.from_environment({"KLARTEXT_TURNS_PER_MINUTE": value})


def test_a_short_secret_is_refused_and_no_secret_is_shown() -> None:
    with pytest.raises(UserFixable, match="has 6 characters and needs 20") as caught:
        Settings.from_environment({"KLARTEXT_CHANNEL_TOKEN": "secret"})

    assert "secret'" not in str(caught.value)
    assert "tttt" not in repr(Settings.from_environment({"KLARTEXT_CHANNEL_TOKEN": "t" * 20}))


SECRET_NAMES = (
    "KLARTEXT_DATABASE_URL",
    "KLARTEXT_EMBEDDINGS_KEY",
    "KLARTEXT_MODEL_KEY",
    "KLARTEXT_CHANNEL_TOKEN",
    "KLARTEXT_TEXT_KEY",
    "KLARTEXT_SEAL_KEY",
)
SECRET = "s3cret-" * 5


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_every_secret_may_lie_in_a_file_and_shows_in_no_output(name: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")

    settings = Settings.from_environment({f"{name}_FILE": str(file)})

    assert settings == Settings.from_environment({name: SECRET})
    assert SECRET in [getattr(settings, each.name) for each in fields(Settings)]
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"KLARTEXT_MODEL_KEY": SECRET, "KLARTEXT_MODEL_KEY_FILE": "/x"}, "both set. Unset one"),
        ({"KLARTEXT_MODEL_KEY_FILE": "/no/such/file"}, "cannot be read"),
        ({"KLARTEXT_MODEL_KEY_FILE": "/dev/null"}, "is empty"),
        ({"KLARTEXT_MODEL_KEY_FILE": "/bin/true"}, "is no text file"),
        ({"KLARTEXT_CHANNEL_TOKEN": "short-token"}, "has 11 characters and needs 20"),
        ({"KLARTEXT_PURGE": "hourly"}, "KLARTEXT_PURGE is 'hourly'"),
        ({"KLARTEXT_KEEP_SENT_DAYS": "0"}, "KLARTEXT_KEEP_SENT_DAYS is '0'"),
    ],
)
def test_a_wrong_setting_is_told_in_one_line_without_the_secret(environ: dict[str, str], problem: str) -> None:
    with pytest.raises(UserFixable, match=problem) as caught:
        Settings.from_environment(environ)

    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "short-token" not in str(caught.value)


def test_files_are_taken_only_where_a_site_says_so_and_how_they_are_scanned() -> None:
    assert Settings.from_environment({}).uploads is None

    scanned = Settings.from_environment({"KLARTEXT_UPLOADS": "on", "KLARTEXT_UPLOAD_SCAN": "cat -u"}).uploads
    assert scanned is not None
    assert (scanned.scan, scanned.most_bytes) == (("cat", "-u"), 10_000_000)
    plain = {"KLARTEXT_UPLOADS": "on", "KLARTEXT_UPLOAD_SCAN": "none", "KLARTEXT_UPLOAD_TYPES": "pdf, png"}
    unscanned = Settings.from_environment(plain).uploads
    assert unscanned is not None
    assert (unscanned.scan, unscanned.kinds) == ((), ("application/pdf", "image/png"))


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "KLARTEXT_UPLOAD_SCAN is not set"),
        ({"KLARTEXT_UPLOAD_SCAN": "/no/such/scanner -"}, "'/no/such/scanner', which cannot be run"),
        ({"KLARTEXT_UPLOAD_SCAN": "scan 'x"}, "Close its quotation marks"),
        ({"KLARTEXT_UPLOAD_SCAN": "none", "KLARTEXT_UPLOAD_TYPES": "svg"}, "Choose from: pdf, jpeg, png"),
        ({"KLARTEXT_UPLOAD_SCAN": "none", "KLARTEXT_UPLOAD_MAX_BYTES": "0"}, "from 1 to 100000000"),
    ],
)
def test_a_setting_of_uploads_that_cannot_be_meant_is_refused(environ: dict[str, str], said: str) -> None:
    with pytest.raises(UserFixable, match=re.escape(said)):
        Settings.from_environment({"KLARTEXT_UPLOADS": "on", **environ})


TOKEN = "t" * 32


def test_calls_for_staff_are_read_where_a_site_says_so() -> None:
    assert Settings.from_environment({}).staff is None

    plain = Settings.from_environment({"KLARTEXT_STAFF_TOKEN": TOKEN}).staff
    assert plain is not None
    assert (plain.minutes, plain.contacts, plain.smtp) == (5, (), None)
    contacts = "http://127.0.0.1:9/a, https://hooks.example.org/x?token=1,mailto:ward.3@example.org"
    environ = {"KLARTEXT_STAFF_TOKEN": TOKEN, "KLARTEXT_STAFF_NEXT": contacts, "KLARTEXT_SMTP_URL": "smtp://mail"}
    told = Settings.from_environment(environ)
    assert told.staff is not None
    assert (len(told.staff.contacts), told.staff.smtp) == (3, ("mail", 25))
    assert not [secret for secret in (TOKEN, "token=1") if secret in repr(told)]


@pytest.mark.parametrize(
    ("environ", "console", "read"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"KLARTEXT_STAFF_CALLS": "off"}, True, False),
        ({"KLARTEXT_STAFF_CALLS": "off", "KLARTEXT_STAFF_TOKEN": TOKEN}, False, False),
        ({"KLARTEXT_STAFF_CALLS": "on"}, False, True),  # a console of its own reads them
        ({"KLARTEXT_STAFF_TOKEN": TOKEN}, False, True),
    ],
)
def test_calls_are_offered_where_a_console_or_the_api_reads_them(
    environ: dict[str, str], console: bool, read: bool
) -> None:
    staff = Settings.from_environment(environ, console=console).staff

    assert (staff is not None) == read


def test_contacts_are_told_of_calls_that_only_the_console_reads() -> None:
    environ = {"KLARTEXT_STAFF_NEXT": "https://hooks.example.org/x", "KLARTEXT_STAFF_MINUTES": "7"}

    staff = Settings.from_environment(environ, console=True).staff

    assert staff is not None
    assert (staff.token, staff.contacts, staff.minutes) == (None, ("https://hooks.example.org/x",), 7)
    assert Settings.from_environment(environ).staff is None  # a command beside it: nothing to refuse


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"KLARTEXT_STAFF_TOKEN": "t" * 31}, "KLARTEXT_STAFF_TOKEN has 31 characters and needs 32"),
        ({"KLARTEXT_STAFF_TOKEN": "", "KLARTEXT_STAFF_NEXT": "https://h"}, "KLARTEXT_STAFF_TOKEN is not"),
        ({"KLARTEXT_STAFF_CALLS": "maybe"}, "KLARTEXT_STAFF_CALLS is 'maybe'"),
        ({"KLARTEXT_STAFF_MINUTES": "0"}, "KLARTEXT_STAFF_MINUTES is '0'"),
        ({"KLARTEXT_STAFF_NEXT": "https://h, http://hidden.example"}, "Contact 2 in KLARTEXT_STAFF_NEXT is neither"),
        ({"KLARTEXT_STAFF_NEXT": "https://h:port"}, "Contact 1 in KLARTEXT_STAFF_NEXT is neither"),
        ({"KLARTEXT_STAFF_NEXT": "mailto:a@b.c"}, "Contact 1 in KLARTEXT_STAFF_NEXT gets mail"),
        ({"KLARTEXT_STAFF_NEXT": "mailto:a@b.c?bcc=d@e.f", "KLARTEXT_SMTP_URL": "smtp://m"}, "is neither"),
        ({"KLARTEXT_STAFF_NEXT": "mailto:a@b.c\r\nBcc: d@e.f", "KLARTEXT_SMTP_URL": "smtp://m"}, "is neither"),
        ({"KLARTEXT_SMTP_URL": "smtp://user:hidden@mail"}, "KLARTEXT_SMTP_URL is not of the form"),
        ({"KLARTEXT_SMTP_URL": "https://mail"}, "KLARTEXT_SMTP_URL is not of the form"),
        ({"KLARTEXT_SMTP_FROM": "nobody"}, "KLARTEXT_SMTP_FROM is 'nobody'"),
        ({"KLARTEXT_STAFF_INBOX": "javascript:1"}, "KLARTEXT_STAFF_INBOX is"),
    ],
)
def test_a_setting_of_calls_that_cannot_be_meant_is_refused(environ: dict[str, str], said: str) -> None:
    with pytest.raises(UserFixable, match=re.escape(said)) as refused:
        Settings.from_environment({"KLARTEXT_STAFF_TOKEN": TOKEN, **environ}, console=False)

    assert "hidden" not in str(refused.value)
