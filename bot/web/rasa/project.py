"""Compile curated content into a complete Rasa 3.6 project: domain, rules, training data, configuration.

Two modes. `delegate`: Rasa is dialogue server and channel, and every message goes to the action server of the service,
which alone decides; Rasa's form mirrors the interview. `native`: Rasa's own DIET and ResponseSelector answer, to be
compared with; it hears no emergencies and asks nothing, so it is for no patient.

https://rasa.com/docs/rasa/domain, /rules, /forms, /training-data-format, /responses (conditional responses).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from bot.catalog.catalog import Pair
from bot.catalog.countries import Country
from bot.catalog.exchange.rasa import unwritable
from bot.catalog.site import Site
from bot.errors import BadData, UserFixable
from bot.interview.form.form import Form
from bot.languages.files import load
from bot.sentences.reply import Place, safe_reply, worded
from bot.sentences.wording import Wording
from bot.settings import LOOPBACK_HOSTS
from bot.talk.messages import phrases_for_interview
from bot.web.rasa import slots
from bot.web.rasa.tracker import Marker
from bot.web.rasa.writing import Block, as_yaml, headed, one_line

Mode = Literal["delegate", "native"]
ACTION, DOWN, NOTE = "action_klartext_turn", "utter_klartext_down", "utter_klartext_note"
FAQ, DECLINED, OUT_OF_SCOPE = "utter_faq", "utter_declined", "out_of_scope"
# What a native project says to "/help", so that whoever asks after it learns that it is none for patients.
HELP, NATIVE = "help", "Klartext, native mode: Rasa alone answers, for comparison only. It is not for patients."
# What Rasa takes for commands of its own, and says nothing to, where no rule is for these very words.
RASAS_OWN = ("/restart", "/back", "/session_start")
ACTIONS_PATH = "/webhooks/rasa/actions"
VERSION = "3.1"  # of Rasa's YAML
# In delegate mode, where what Rasa hears decides nothing: training takes seconds then, and half an hour otherwise.
FEW_WORDINGS = 5
OTHERS = 10  # times as many questions that no pair answers


@dataclass(frozen=True, slots=True)
class Content:
    """What a project is made of.

    Attributes:
        exam: The catalog's name.
        pairs: Those that may be shown, by language, the first language first.
        background: Questions that none of them answers, by language.
        wording: The program's sentences, as they speak of the exam.
        form: The questions of the radiology team; None where nothing is asked.
        sample: Whether drafts are among the pairs.
        country: Whose emergency numbers are said; None: those of all.
        site: What may be said of the place; None where that is nothing.
    """

    exam: str
    pairs: Mapping[str, Sequence[Pair]]
    background: Mapping[str, Sequence[str]]
    wording: Wording
    form: Form | None = None
    sample: bool = False
    country: Country | None = None
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How it is to run.

    Attributes:
        mode: Who decides: our action server, or Rasa.
        service: Where the action server is, as the Rasa server reaches it.
        epochs: Of Rasa's two classifiers, in native mode.
        wordings: How many of each pair and language Rasa is taught; None: all in native mode, few in the other.
    """

    mode: Mode = "delegate"
    service: str = "http://127.0.0.1:8000"
    epochs: int = 100
    wordings: int | None = None


def compile_project(content: Content, options: Options) -> dict[str, bytes]:
    """Return the files of a project, by their paths in it.

    Raises:
        BadData: Rasa would refuse, or read otherwise, what stands in the content.
        UserFixable: Nothing may be shown, or the address of the service is none.
    """
    if not any(content.pairs.values()):
        raise UserFixable(
            "No pair may be shown, so there is nothing to export. Have pairs approved, or use `--sample`."
        )
    _require_writable(content)
    made = _Project(content, options)
    files = {
        "config.yml": as_yaml(made.config()),
        "domain.yml": as_yaml({"version": VERSION, **made.domain()}),
        "data/nlu.yml": as_yaml({"version": VERSION, "nlu": list(made.examples())}),
        "data/rules.yml": as_yaml({"version": VERSION, "rules": list(made.rules())}),
        "endpoints.yml": _endpoints(options),
        "credentials.yml": _CREDENTIALS,
    }
    return {name: headed(_HEADS[name].format(mode=options.mode), text) for name, text in files.items()}


_HEADS = {
    "config.yml": "Written by `klartext rasa export` ({mode}). Train it with `rasa train` (Rasa Open Source 3.6).",
    "domain.yml": "Written by `klartext rasa export` ({mode}) from curated content: change that, and export again.",
    "data/nlu.yml": "Written by `klartext rasa export`: the questions of the catalog, as patients ask them.",
    "data/rules.yml": "Written by `klartext rasa export` ({mode}).",
    "endpoints.yml": "Written by `klartext rasa export` ({mode}).",
    "credentials.yml": "Written by `klartext rasa export` ({mode}).",
}
_CREDENTIALS = """\
# Whoever reaches Rasa may write as any sender: let it listen on 127.0.0.1 (`rasa run -i 127.0.0.1`), behind what knows
# your patients, and give each a sender id that nobody guesses.
rest:
# A connection is a sender. With `session_persistence: true` a browser could go on after a reload, but beside
# python-socketio 5.10 or newer, which pip installs, Rasa 3.6 then sends its answers to nobody.
socketio:
  user_message_evt: user_uttered
  bot_message_evt: bot_uttered
  session_persistence: false
"""


def _endpoints(options: Options) -> str:
    if options.mode == "native":
        return "# Rasa decides everything by itself: there is no action server.\n"
    service = service_address(options.service)
    # Without the domain in every request: all that is needed of it is in the slots.
    return f"""\
# The secret is that of the service (`KLARTEXT_RASA_TOKEN`): Rasa reads it from its own environment when it starts.
action_endpoint:
  url: {service}{ACTIONS_PATH}
  headers:
    Authorization: Bearer ${{KLARTEXT_RASA_TOKEN}}
  enable_selective_domain: true
"""


def service_address(url: str) -> str:
    """Return the address of the service, with or without the path of its actions, as it is used.

    Raises:
        UserFixable: It is none, or the secret and what patients write would cross the network readably.
    """
    address = plain_address(url, "--service")
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK_HOSTS:
        raise UserFixable(
            f"`--service` is {url!r}, which is not encrypted: the secret, and what patients write, would cross the "
            "network readably. Use https."
        )
    return address.removesuffix(ACTIONS_PATH).rstrip("/")


def plain_address(url: str, named: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        UserFixable: It is none, or one that YAML does not take as it stands; or it holds a password, which is not
            repeated.
    """
    if "@" in url:
        raise UserFixable(
            f"`{named}` holds a user or a password. Leave it out: such an address ends up in files and logs."
        )
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    plain = url.isprintable() and not any(each in url for each in " \"'#?${}")
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserFixable(f"`{named}` is {url!r}. Give a plain address, such as http://127.0.0.1:8000.")
    return url.rstrip("/")


def _require_writable(content: Content) -> None:
    """Raise BadData where Rasa would take a part of a text for an entity, a slot or a variable."""
    bad = sorted(
        {
            f"{pair.id} ({language}, {named})"
            for language, pairs in content.pairs.items()
            for pair in pairs
            for named, text in (
                ("question", pair.question),
                ("answer", pair.answer),
                *((f"variant {number}", each.text) for number, each in enumerate(pair.variants, 1)),
            )
            if unwritable(text)
        }
    )
    if bad:
        raise BadData(
            f"Rasa would take a part of the texts of {', '.join(bad)} for an entity or a slot, and has no way "
            "to write them. Take the brackets out first."
        )


@dataclass(frozen=True, slots=True)
class _Project:
    """The parts of a project as data."""

    content: Content
    options: Options
    languages: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", tuple(self.content.pairs))

    @property
    def _native(self) -> bool:
        return self.options.mode == "native"

    @property
    def _form(self) -> str:
        """What Rasa calls the form; empty where nothing is asked. Never in native mode: any word is consent to Rasa."""
        return "" if self._native or self.content.form is None else slots.form_name(self.content.form)

    def config(self) -> Mapping[str, Any]:
        pipeline: list[dict[str, Any]] = [{"name": "WhitespaceTokenizer"}]
        if self._native:
            learned = {"epochs": self.options.epochs, "constrain_similarities": True}
            pipeline += [
                {"name": "LexicalSyntacticFeaturizer"},
                {"name": "CountVectorsFeaturizer"},
                {"name": "CountVectorsFeaturizer", "analyzer": "char_wb", "min_ngram": 1, "max_ngram": 4},
                {"name": "DIETClassifier", **learned},
                {"name": "ResponseSelector", "retrieval_intent": "faq", **learned},
                {"name": "FallbackClassifier", "threshold": 0.3, "ambiguity_threshold": 0.1},
            ]
        else:  # what it says decides nothing: it is there for who reads Rasa's trackers, and learned in seconds
            pipeline += [
                {"name": "CountVectorsFeaturizer"},
                {"name": "LogisticRegressionClassifier"},
                {"name": "FallbackClassifier", "threshold": 0.3},
            ]
        otherwise = DECLINED if self._native else ACTION
        return {
            "recipe": "default.v1",
            "assistant_id": f"klartext-{self.content.exam}",
            "language": self.languages[0],
            "pipeline": pipeline,
            "policies": [{"name": "RulePolicy", "core_fallback_action_name": otherwise}],
        }

    def _intents(self) -> Iterator[str]:
        yield "faq"
        if any(self.content.background.values()):
            yield OUT_OF_SCOPE
        if self._form:
            yield "interview"
        if self._native:
            yield HELP
        yield from (f"language_{language}" for language in self.languages)

    def examples(self) -> Iterator[Mapping[str, Any]]:
        """Yield the training data: the pairs of all languages, what none answers, and a few wishes."""
        texts: dict[str, dict[str, None]] = {}
        most = self.options.wordings or (None if self._native else FEW_WORDINGS)
        for language, pairs in self.content.pairs.items():
            for pair in pairs:
                own = texts.setdefault(f"faq/{pair.id}", {})
                wordings = [pair.question, *(each.text for each in pair.variants)][:most]
                own.update(dict.fromkeys(map(one_line, wordings)))
            others = self.content.background.get(language, ())
            others = others[: most * OTHERS] if most is not None else others
            if others:
                texts.setdefault(OUT_OF_SCOPE, {}).update(dict.fromkeys(map(one_line, others)))
        if self._form:
            texts["interview"] = dict.fromkeys(phrases_for_interview())
        if self._native:
            texts[HELP] = dict.fromkeys(("klartext", "klartext native"))  # words of no patient
        for language in self.languages:
            said = load(language, "language.yaml")
            texts[f"language_{language}"] = dict.fromkeys((said["name"], *said["phrases"]))
        for intent, lines in texts.items():
            if written := [line for line in lines if line and not unwritable(line)]:
                yield {"intent": intent, "examples": Block("".join(f"- {line}\n" for line in written))}

    def rules(self) -> Iterator[Mapping[str, Any]]:
        """Yield the rules.

        In delegate mode the action says itself that Rasa is to listen. Where it does not, since it could not be
        reached, the patient is told so.
        """
        if not self._native:
            then = [{"action": ACTION}, {"action": DOWN}]
            for intent in (*self._intents(), "nlu_fallback"):
                yield {"rule": f"{intent}: the action server decides", "steps": [{"intent": intent}, *then]}
            for said in RASAS_OWN:
                yield {"rule": f"{said}: the action server decides", "steps": [{"user": said}, *then]}
            yield {"rule": "whatever else is said: the action server decides", "steps": then}
            return
        declines = [{"action": DECLINED}, {"action": NOTE}]
        yield {
            "rule": "answer a question",
            "steps": [{"intent": "faq"}, {"action": FAQ}, {"action": NOTE}],
        }
        for intent in (OUT_OF_SCOPE, "nlu_fallback"):
            if intent in (*self._intents(), "nlu_fallback"):
                yield {"rule": f"decline: {intent}", "steps": [{"intent": intent}, *declines]}
        for language in self.languages:
            steps = [{"intent": f"language_{language}"}, {"action": "utter_welcome"}, {"action": NOTE}]
            yield {"rule": f"go on in {language}", "steps": steps}
        yield {
            "rule": "say what this is",
            "steps": [{"intent": HELP}, {"action": "utter_klartext_native"}, {"action": NOTE}],
        }

    def domain(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {
            "intents": list(self._intents()),
            "slots": dict(self._slots()),
            "responses": dict(self._responses()),
        }
        if self._form:
            found["forms"] = {self._form: {"required_slots": list(self._required())}}
        if not self._native:
            found["actions"] = [ACTION]
        found["session_config"] = {"session_expiration_time": 60, "carry_over_slots_to_new_session": True}
        return found

    def _required(self) -> Iterator[str]:
        """Yield the slots of the form; which of them is asked next, the action server says."""
        if self._form and self.content.form is not None:
            yield from slots.slot_names(self.content.form).values()
            yield slots.AGREED

    def _slots(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        def slot(*mappings: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
            made = list(mappings) or [{"type": "custom"}]
            return {"type": "any", "influence_conversation": False, **more, "mappings": made}

        marker = Marker(self.content.exam, self.content.sample, self._form, self.options.mode)
        yield slots.PROJECT, slot(initial_value=marker.as_json())
        if self._native:
            wishes = ({"type": "from_intent", "intent": f"language_{each}", "value": each} for each in self.languages)
            yield slots.LANGUAGE, slot(*wishes)
            return
        for name in (slots.LANGUAGE, slots.DECISION, slots.PAIR, slots.CONVERSATION, *self._required()):
            yield name, slot()

    def _responses(self) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
        answers: dict[str, dict[str, str]] = {}
        for language, pairs in self.content.pairs.items():
            for pair in pairs:
                answers.setdefault(f"utter_faq/{pair.id}", {})[language] = pair.answer
        for name, texts in answers.items():
            yield name, _in_languages(texts)
        down = {language: self._down(language) for language in self.languages}
        if not self._native:
            # Nobody knows yet in which language: the sentence of all.
            together = {"": "\n\n".join(down.values()), **down} if len(down) > 1 else down
            yield DOWN, _in_languages(together)
            return
        sentences = self.content.wording.sentences
        country = self.content.country
        notice = f"emergency_notice_{country.lower()}" if country else "emergency_notice"
        noted = ["sample_label"] * self.content.sample + [notice]
        yield NOTE, _in_languages({each: "\n\n".join(sentences[each][key] for key in noted) for each in self.languages})
        # Of its kind, the sentence that promises nothing: nobody notes here what is asked.
        yield DECLINED, _in_languages({each: self._said(each, "declined_third") for each in self.languages})
        yield "utter_welcome", _in_languages({each: sentences[each]["welcome"] for each in self.languages})
        yield "utter_klartext_native", [{"text": NATIVE}]

    def _said(self, language: str, key: str) -> str:
        """Return a sentence as the country says it."""
        sentences = self.content.wording.sentences[language]
        return sentences.get(f"{key}_{(self.content.country or '').lower()}", sentences[key])

    def _down(self, language: str) -> str:
        place = Place("rest", self.content.country, wording=self.content.wording)
        said = worded(safe_reply(language), place).parts[0].text
        phone = self.content.site.text("phone", language) if self.content.site is not None else None
        return f"{said}\n\n{phone}" if phone and not unwritable(phone) else said


def _in_languages(texts: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """Return a response with a wording for each language: the first for everybody, the others where it is known."""
    found = []
    for number, (language, text) in enumerate(texts.items()):
        said: dict[str, Any] = {"text": Block(text) if "\n" in text else text}
        if number:
            said["condition"] = [{"type": "slot", "name": slots.LANGUAGE, "value": language}]
        found.append(said)
    return found
