"""Recognise a whole message by its words: small talk, thanks, relief, refusals, wishes, and that an alarm is none.

The words are data (``reaction_phrases/``). A message is a reaction only if all of it is made of known phrases, in any
order; one word too many and it is something else. So "danke tschüss" is one and "danke, aber tut das weh?" is none.
Announcements ("dann frag ich die Ärztin") and refusals ("ich will nicht hin") end in words of the patient's own:
whoever replies to those looks for red flags first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import beside_silence, read_yes_no
from bot.languages.files import cached, joint, known, load
from bot.sentences.reply import interface
from bot.text import MAX_CHARACTERS, fold, words

Kind = Literal[
    "farewell", "thanks", "cancelling", "refusal", "announcement", "hesitation", "waiting", "relief", "agreement"
]
# What a message with several of them counts as: the first that it has.
KINDS: tuple[Kind, ...] = get_args(Kind)
# Kinds whose words are all known: nothing else can be heard in them.
CLOSED = frozenset[Kind]({"farewell", "thanks", "hesitation", "waiting", "relief", "agreement"})
# By how much (log-likelihood) one word, and several, must be of another language to change that of the conversation:
# drugs and examinations have the same names everywhere, and dialects share words with other languages.
ONE_WORD_MARGIN, MARGIN = 9.0, 7.0
# Reactions that are none where any words are an answer: "good", "red" and "maybe" may be what the patient has to say.
_ANSWERS = frozenset[Kind]({"cancelling", "refusal", "announcement", "hesitation", "agreement"})
MOST_WORDS = 24
MOST_CALLING_OFF = 14  # words
MOST_PICKING = 8  # words
MOST_PLAIN = 10  # words of a question that is nothing else
# More than a plain question: a further sentence, an outcry, a sign of feeling.
_NOT_PLAIN = re.compile(r"[.?;:\n…](?=.*\w)|!|\?.*\?|[^\w\s.,?'’\"„“”()/%&–-]", re.DOTALL)
# "Can we do the questionnaire", unless it is asked about, refused or feared.
_WANTS_INTERVIEW = re.compile(
    r"^(?!(?:wie|was|wann|warum|wieso|wo|wer|muss|kann|darf|soll|how|what|when|why|where|who|do i|must i|can i)\b)"
    r"(?=.*\b(?:fragebogen|fragebogn|(?:fragen|frag) (?:\w+ )?(?:der|von der|fuer die|aus der) radiologie|anamnese|"
    r"questionnaire|(?:radiology|medical|history) questions|"
    r"(?:fill|do) (?:in|out) (?:the |your |these )?(?:questions|form)|formular)\b)"
    r"(?=.*\b(?:mach(?:e|en|ma|n|t)?|ausfuell\w*|beantwort\w*|start\w*|anfang\w*|fang\w*|beginn\w*|loslegen|fill\w*|"
    r"answer|do|begin)\b)"
    r"(?!.*\b(?:nicht|angst|kein\w*|don t|afraid|scared|not|never|no)\b)"
)
# "Heavy bleeding now", "i am bleed strong": the rules for red flags know bleeding that is heavy, said in this order.
_BLEEDING = {
    "bleeding heavily": re.compile(
        r"\b(?:heavy|heavily|much|many|big|strong|bad|massive|lots?) (?:of )?(?:bleed\w*|blood)\b|"
        r"\b(?:bleed\w*|blood) (?:very )?(?:strong\w*|much|big|bad|hard|many|heavy)\b"
    ),
    "blute stark": re.compile(
        r"\b(?:stark\w*|gross\w*|schwer\w*|heftig\w*|schlimm\w*) blutung\w*\b|\bblutung\w* (?:\w+ )?stark\b"
    ),
}
# Pressure on the chest in everyday words, and how the rules know it. Learners say "breast" for the chest.
_PRESSING = {
    "ich habe jetzt druck auf der brust": re.compile(
        r"\b(?:drueckt|druckt|drueggt)(?: (?!das\b|mich\b.*\bbh\b)\w+){0,5} (?:auf|uf|aufm|in|an) "
        r"(?:(?:der|die|de|da|dr|d|meiner|meine|meinem|mein|mei|seiner|ihrer|linken?|rechten?|ganzen?) )*"
        r"(?:brust|bruscht|brusd|brustkorb)\b|"
        r"\b(?:brust|bruscht|brustkorb)(?: \w+){0,5} (?:drueckt|druckt|beengt)\b|"
        r"\bdruck (?:auf|uf|in|im|an)(?: \w+){0,2} (?:brust|bruscht|brustkorb)\b|"
        r"\b(?:schwer|eng|engegefuehl|druckgefuehl)(?: \w+){0,2} (?:auf|uf|in|im|um|ueber)(?: \w+){0,2} "
        r"(?:brust|bruscht|brustkorb)\b|"
        r"\b(?:brust|bruscht)(?: \w+){0,4} weh (?:\w+ )?(?:innen|drinnen|innendrin)\b"
    ),
    "i have pressure on my chest now": re.compile(
        r"\b(?:press\w*|push\w*|squeez\w*|weigh\w*|heavy|tight\w*|pressure)(?: \w+){0,2} (?:on|in|inside|across|over) "
        r"(?:(?:my|the|his|her) )?(?:whole |left )?(?:chest|breast ?bone|breast(?= (?:inside|still|now|again)))\b|"
        r"\b(?:chest|breast ?bone)(?: \w+){0,4} (?:presses|pressing|pressed|tight\w*|heavy|squeez\w*)\b"
    ),
}
# What presses from outside, or is asked about, and no pain: examinations, clothes, what was or will be.
_FROM_OUTSIDE = re.compile(
    r"\b(?:mammo\w*|untersuch\w*|aufnahme\w*|platten?|plexi\w*|kompress\w*|geraet\w*|maschine\w*|apparat\w*|roentgen\w*|"
    r"bilde?r?\w*|bh|bhs|gurt\w*|implant\w*|silikon\w*|knoten|zyklus|periode|tage|stille\w*|milch\w*|roehre|mrt|"
    r"wird|werden|wurde|wuerde|war|hatte|letztes|letzte|damals|frueher|angst|sorge\w*|ob|wenn|falls|wie|warum|wieso|weshalb|"
    r"normal|man|exam\w*|mammogram\w*|plates?|paddles?|machine\w*|scan\w*|x ray|xray|bra|implants?|lumps?|period|"
    r"will|would|does|do you|did|it was|was it|were|last|how|why|when|if|whether|afraid|scared|worried|"
    r"compress\w*|technician)\b|"
    r"^(?:ist|sind|kann|darf|soll|muss|is|are|can|may|should|must) "
)
_STILL = re.compile(
    r"\b(?:jetzt|jetz|grad|gerade|immer noch|noch immer|immer|wieder|seit|hilfe|now|still|again|since|help)\b"
)
_GOES_ON = re.compile(
    r"(?=.*\b(?:immer noch|noch immer|immer|noch|wieder|weiter|still|again)\b)"
    r"(?=.*\b(?:druck|drueckt|druckt|schmerz\w*|weh|eng|enge|pressure|pressing|pain|painful|hurts|hurting|tight)\b)"
)
MOST_PRESSING = 14  # words
_SHOUTED = re.compile(r"!\s*!")
_NOW = re.compile(r"\b(?:now|help|i (?:am |m )?bleed\w*|jetzt|gerade|grad|hilfe)\b")
_DENIED = re.compile(r"\b(?:no|not|never|none|t|kein\w*|nicht|nie|nix)\b(?!.*\bstop)")
MOST_IN_HASTE = 12  # words
_NOT_PRESSING = re.compile(r"\b(?:no|not|never|none|isn t|kein\w*|nicht mehr|nie|nix mehr|weg)\b(?<!geht nicht weg)")
# What is code, and no language.
_CODE = re.compile(r"</?\w+[^>]*>|[{}]|;\s*--|\bhttps?://")
_CLAUSE = re.compile(r"[.!,;:\n…–—]+|\s-+\s|(?<=\w)\s*[)(]+")


@dataclass(frozen=True, slots=True)
class _Reactions:
    """The phrases of one language, compiled.

    Attributes:
        kinds: Whole messages of each kind.
        anything: Any of these.
        fill: Words that say nothing.
        asking: Words that ask.
        refusing: What refuses, anywhere in a message.
        calling_off: What calls off the appointment, anywhere in a message.
    """

    kinds: Mapping[Kind, re.Pattern[str]]
    anything: re.Pattern[str]
    fill: re.Pattern[str]
    asking: re.Pattern[str]
    refusing: re.Pattern[str]
    calling_off: re.Pattern[str]

    def of(self, clauses: Sequence[str]) -> frozenset[Kind]:
        """Return the kinds that all clauses together are made of; none when one of them is something else."""
        found: set[Kind] = set()
        for clause in clauses:
            if not made_of(clause.split(), self.anything, self.fill):
                return frozenset()
            found |= {kind for kind, pattern in self.kinds.items() if pattern.search(clause)}
        return frozenset(found)


def made_of(said: Sequence[str], *patterns: re.Pattern[str]) -> bool:
    """Say whether words can be cut into pieces that each match one of the patterns as a whole.

    Piece by piece: one expression for all of it would try every way to cut, which are as many as 2 to the words.
    """
    reached = {0}
    for start in range(len(said)):
        if start in reached:
            ends = range(start + 1, len(said) + 1)
            pieces = ((end, " ".join(said[start:end])) for end in ends if end not in reached)
            reached |= {end for end, piece in pieces if any(pattern.fullmatch(piece) for pattern in patterns)}
    return len(said) in reached


def short_reaction(text: str) -> Kind | None:
    """Return what kind of reaction a whole message is; None when it is, or may be, anything else."""
    if "?" in text or not words(text) or len(words(text)) > MOST_WORDS or ails(text):
        return None
    clauses = [clause for part in _CLAUSE.split(text) if (clause := fold(part))]
    found = (_reactions(language).of(clauses) for language in known())
    kinds: frozenset[Kind] = next((each for each in found if each), frozenset())
    return next((kind for kind in KINDS if kind in kinds), None)


def reaction_beside_answers(text: str, *, wants_words: bool) -> Kind | None:
    """Return what kind of reaction a message is; None where it may be the answer to a question for any words."""
    kind = short_reaction(text)
    is_answer = kind in _ANSWERS or (kind == "relief" and len(words(text)) == 1)
    return None if wants_words and is_answer else kind


def all_beside_silence(text: str) -> list[str]:
    """Return what stands beside "I don't know" and the like, in whatever language that is said."""
    return [beside for language in known() if (beside := beside_silence(text, language=language))]


def says_more(text: str, language: str) -> bool:
    """Say whether there is more in a message than that somebody does not know, or will not say, or yes or no."""
    said = read_yes_no(text, language=language)
    return bool(all_beside_silence(text)) or (isinstance(said, Read) and bool(said.remainder))


def yes_or_no_in(language: str, text: str) -> str:
    """Return "ja" as "yes" where English is spoken, and the other way round; any other message as it is."""
    if isinstance(read_yes_no(text, language=language), Read):
        return text
    others = (read_yes_no(text, language=each) for each in known() if each != language)
    said = next((each for each in others if isinstance(each, Read) and each.literal and not each.remainder), None)
    if said is None:
        return text
    return interface(language, "yes" if said.answers[0].value is True else "no").text


def remarks(text: str) -> bool:
    """Say whether a message begins with a reaction and asks nothing after it: "ok, verstanden. kein Deo.".

    What is longer than any answered message is none: to cut it into phrases takes time with the cube of its length.
    """
    if "?" in text or len(text) > MAX_CHARACTERS or ails(text):
        return False
    clauses = [clause for part in _CLAUSE.split(text) if (clause := fold(part))]
    return any(
        clauses
        and _reactions(language).of(clauses[:1])
        and not _reactions(language).asking.search(" ".join(clauses[1:]))
        for language in known()
    )


def refuses(text: str) -> Kind | None:
    """Return whether a message that asks nothing says somewhere that the patient calls off, or will not come."""
    said = fold(text)
    each = [_reactions(language) for language in known()]
    if "?" in text or len(said.split()) > MOST_WORDS or any(one.asking.match(said) for one in each):
        return None
    if any(one.calling_off.search(said) for one in each):
        return "cancelling"
    return "refusal" if any(one.refusing.search(said) for one in each) else None


def tells_language(text: str) -> bool:
    """Say whether a message is in words of some language: no code, and not "WhatsApp?", which is one everywhere."""
    return not _CODE.search(text) and not _messages()["everywhere"].issuperset(words(text))


def small_talk(text: str) -> str | None:
    """Return which kind of small talk a whole message is, a key of the interface texts; None when it is a question."""
    said = " ".join(words(text))
    found = next((key for key, messages in _messages()["small_talk"].items() if said in messages), None)
    return None if found == "help" and _SHOUTED.search(text) else found  # who shouts for help asks for no explanation


def heavy_bleeding(text: str) -> str:
    """Return a message in haste about bleeding now in words that the alarm knows; empty for others."""
    said = fold(text)
    if len(said.split()) > MOST_IN_HASTE or not _NOW.search(said) or _DENIED.search(said):
        return ""
    return next((form.sub(known, said) for known, form in _BLEEDING.items() if form.search(said)), "")


def chest_pressure(text: str) -> str:
    """Return a message about pressure on the chest now in words that the alarm knows; empty for others.

    What presses during an examination, or is only asked about, is none.
    """
    said = fold(text)
    asks = "?" in text and not _STILL.search(said)
    if asks or len(said.split()) > MOST_PRESSING or _FROM_OUTSIDE.search(said) or _NOT_PRESSING.search(said):
        return ""
    return next((known for known, form in _PRESSING.items() if form.search(said)), "")


def says_it_goes_on(text: str) -> bool:
    """Say whether a message tells that pain or pressure is still there: "immer noch druck"."""
    said = fold(text)
    calm = _FROM_OUTSIDE.search(said) or _NOT_PRESSING.search(said) or len(said.split()) > MOST_PRESSING
    return not calm and bool(_GOES_ON.search(said))


def asks_on(text: str) -> bool:
    """Say whether a whole message asks on from the answer before: "und dann?", "why?"."""
    return " ".join(words(text)) in _messages()["follow_ups"]


def asks_to_wait(text: str) -> bool:
    """Say whether a message may ask how long something can wait: "Kann ich damit bis Montag warten?"."""
    return not _messages()["waiting_words"].isdisjoint(words(text))


def asks_easier(text: str) -> bool:
    """Say whether a whole message asks for the easy answer."""
    return " ".join(words(text)) in _messages()["easier"]


def picks(text: str) -> int | None:
    """Return which of several offered things a whole message names: from 1, -1 for the last, 0 for none of them."""
    said = words(text)
    if not 0 < len(said) <= MOST_PICKING:
        return None
    found = {place for place, (pick, fill) in _picks().items() if made_of(said, pick, fill) and not made_of(said, fill)}
    return next(iter(found)) if len(found) == 1 else None


def agrees(text: str) -> bool:
    """Say whether a whole message is a bare yes."""
    return " ".join(words(text)) in _messages()["yes"]


def switches_to(text: str) -> str | None:
    """Return the language that a whole message asks for: by a command ("/english"), or in that language's own words."""
    return _switches().get(text.strip().lower()) or _switches().get(" ".join(words(text)))


def switch_to(language: str) -> str:
    """Return the command that goes on in a language."""
    return str(load(language, "language.yaml")["commands"][0])


@cached
def _switches() -> dict[str, str]:
    said = {language: load(language, "language.yaml") for language in known()}
    return {text: language for language, own in said.items() for text in (*own["commands"], *own["phrases"])}


def wants_interview(text: str) -> bool:
    """Say whether a message asks for the questions of the radiology team."""
    said = " ".join(words(text))
    return said in _messages()["interview"] or bool(_WANTS_INTERVIEW.search(said))


def phrases_for_interview() -> tuple[str, ...]:
    """Return whole messages that ask for those questions."""
    return tuple(sorted(_messages()["interview"]))


def nothing_asked(text: str) -> str | None:
    """Return the key of the reply to yes or no where nothing was asked; None when it is something else."""
    if agrees(text):
        return "ask_away"
    return "stop" if " ".join(words(text)) in _messages()["no"] else None


def ails(text: str) -> bool:
    """Say whether its writer is unwell, or waits for weeks: "danke, mir ist schwindelig" is more than thanks."""
    return bool(_ailing().search(" ".join(words(text))))


def in_trouble(text: str) -> bool:
    """Say whether words of distress, illness, waiting, anger or refusal stand in a message: no time for a check."""
    return bool(checking()["trouble"].search(" ".join(words(text))))


def asks_plainly(text: str, question: str, wordings: Iterable[str]) -> bool:
    """Say whether a message is nothing but a plain question, short and in words that are known of a pair.

    Args:
        text: The message.
        question: Of the pair.
        wordings: In which patients ask it.
    """
    said, forms = words(text), checking()
    plain = not _NOT_PLAIN.search(text.strip()) and 0 < len(said) <= MOST_PLAIN and not in_trouble(text)
    if not plain:
        return False
    hurts, own = any(forms["pain"].fullmatch(word) for word in said), set(words(question))
    if hurts and any(forms["oneself"].fullmatch(word) for word in said):
        return False
    if hurts and not any(forms["pain"].fullmatch(word) for word in own):
        return False
    known_words = own.union(*map(words, wordings))
    return all(word in known_words or forms["plain"].fullmatch(word) for word in said)


def calls_off(text: str) -> bool:
    """Say whether a whole message says that an alarm is none: "nein", "kein Notfall", "I'm fine", "weiter"."""
    said = words(text)
    if not 0 < len(said) <= MOST_CALLING_OFF:
        return False
    phrases, fill = _all_clear()
    return made_of(said, phrases, fill) and not made_of(said, fill)


def calms(text: str) -> bool:
    """Say whether a message takes an alarm back somewhere in its words: "Was? Mir geht es gut, das war ein Scherz."."""
    said = " ".join(words(text))
    return len(said.split()) <= MOST_WORDS and bool(_taken_back().search(said))


def declines_help(text: str) -> bool:
    """Say whether a whole message is "no, thank you": said to an alarm, it may refuse help, and calls off nothing."""
    return " ".join(words(text)) in _messages()["no"] and len(words(text)) > 1


@cached
def checking() -> dict[str, re.Pattern[str]]:
    """Return the forms of words by which explanations are checked (`bot.talk.quiz_words`), each by its name."""
    return {
        name: re.compile(rf"\b(?:{'|'.join(listed)})\b") for name, listed in joint("messages.yaml")["checking"].items()
    }


@cached
def _taken_back() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(joint('messages.yaml')['all_clear']['anywhere'])})\b")


@cached
def _reactions(language: str) -> _Reactions:
    listed = load(language, "reactions.yaml")
    tail = rf"(?: (?!(?:{'|'.join(listed['asking'])})\b)\w+){{0,7}}"
    filled = {
        kind: "|".join(listed[kind]).replace("{tail}", tail).replace("{staff}", str(listed.get("staff") or ""))
        for kind in KINDS
    }
    return _Reactions(
        kinds={kind: re.compile(rf"(?:^| )(?:{phrases})(?= |$)") for kind, phrases in filled.items()},
        anything=re.compile("|".join(filled.values())),
        fill=re.compile("|".join(listed["fill"])),
        asking=re.compile(rf"\b(?:{'|'.join(listed['asking'])})\b"),
        refusing=re.compile(rf"\b(?:{'|'.join(listed['refusing'])})"),
        calling_off=re.compile(rf"\b(?:{'|'.join(listed['calling_off'])})"),
    )


@cached
def _ailing() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(joint('messages.yaml')['ailing'])})\b")


@cached
def _picks() -> dict[int, tuple[re.Pattern[str], re.Pattern[str]]]:
    listed = joint("messages.yaml")["picks"]
    fill = re.compile("|".join(listed["fill"]))
    return {place: (re.compile("|".join(phrases)), fill) for place, phrases in listed["places"].items()}


@cached
def _all_clear() -> tuple[re.Pattern[str], re.Pattern[str]]:
    listed = joint("messages.yaml")["all_clear"]
    return re.compile("|".join(listed["phrases"])), re.compile("|".join(listed["fill"]))


@cached
def _messages() -> dict[str, Any]:
    listed = joint("messages.yaml")
    small_talk_ = {kind: frozenset(texts) for kind, texts in listed.pop("small_talk").items()}
    return {
        "small_talk": small_talk_,
        **{name: frozenset(texts) for name, texts in listed.items() if isinstance(texts, list)},
    }
