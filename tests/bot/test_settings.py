"""Settings come from the environment once; patient text stays unless the operator says otherwise."""

from pathlib import Path

import platformdirs
import pytest

from bot import Settings, Unreachable, UserFixable


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
    )


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
    "url", ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:8080/v1", "https://Named.Example.org/v1"]
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
