"""Words of a form that name something to decide, and those by which somebody says that it is not there. Pure.

A form lists them (`decision-words`); all its languages count together, for patients mix them. A denial is plain only
where nothing else is said: what follows "except", a word that nobody listed, "not" beside "fine" all speak against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.interview.manners.stating import NO_STATEMENTS, Statements
from bot.interview.manners.terms import NO_TERMS, Terms
from bot.interview.reading.vocabulary import near
from bot.interview.values.fhir_json import JsonObject, extensions, objects, string
from bot.interview.values.fhir_names import DECISION_WORDS
from bot.text import words

NEAR = 4  # words from "not" on in which "good" is what it denies
MIN_MISTYPED = 6  # letters of a word that is known with one slip in it, too
_BREAKS = re.compile(r"[,.;:!?()\n/]+|\s[-–—]+\s")


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a piece of a message is: whether it is plain, whether it denies something, and whether it says yes."""

    plain: bool
    denies: bool = False
    affirms: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words that name something to decide, and those by which somebody says that it is not there.

    Attributes:
        names: Words and phrases that name something.
        harmless: Those that do not, although they look like it: "nächste Woche", "Eisenbahn".
        denials: "kein", "never".
        clears: Phrases that deny by themselves: "nicht dass ich wüsste".
        spoils: Phrases with a denial in them that deny nothing: "noch nicht", "never without".
        affirms: "ja", "yes".
        has: How somebody says that they have what was asked for: "I have one".
        around: Words that say nothing beside a denial.
        joins: Words by which a denial goes on to the next thing: "kein Stent oder Clip".
        organs: Parts of the body that are named in a denial: "nix am Herz".
        well: Words that say that something is as it should be, and the opposite beside "not".
        closes: Words with which what is denied ends: "no problems with my stent".
        own: Words of somebody who speaks of themselves.
        others: Whom somebody speaks of who does not: "meine Nachbarin", "my dog".
        too: Words by which somebody joins them: "ich auch".
        doctors: Whose doctor is somebody else's: "beim Nierenarzt meiner Mutter".
        excepting: What an exception from a denial begins with.
        together: Pairs of terms that name something where both are in a message: "head" and "tube".
        signs: Words of the body and of treatment: in doubt, what is said with one of them matters.
        things: What somebody has beside them: "my car has a metal roof"; with `between`, and `materials`, what it has.
        courtesy: Words of thanks and goodbye.
        statements: Sentences that tell of one's body or work without a word that is listed here.
    """

    names: Terms = NO_TERMS
    harmless: Terms = NO_TERMS
    denials: frozenset[str] = frozenset()
    clears: Terms = NO_TERMS
    spoils: Terms = NO_TERMS
    affirms: frozenset[str] = frozenset()
    has: Terms = NO_TERMS
    around: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    organs: Terms = NO_TERMS
    well: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    others: Terms = NO_TERMS
    too: frozenset[str] = frozenset()
    doctors: Terms = NO_TERMS
    excepting: re.Pattern[str] | None = None
    together: tuple[tuple[Terms, Terms], ...] = ()
    signs: Terms = NO_TERMS
    things: Terms = NO_TERMS
    between: frozenset[str] = frozenset()
    materials: Terms = NO_TERMS
    courtesy: frozenset[str] = frozenset()
    statements: Statements = NO_STATEMENTS

    @classmethod
    def of(cls, form: JsonObject) -> Lexicon:
        """Read what a form says."""
        return _lexicon(
            tuple(
                (string(part, "url"), string(part, "valueString"))
                for extension in extensions(form, *DECISION_WORDS)
                for part in objects(extension, "extension")
            )
        )

    def is_plain(self, text: str) -> bool:
        """Say whether a message is a plain yes or no, or a denial, and nothing else: "nein", "kein Schrittmacher"."""
        return all(self._piece(words(piece)).plain for piece in _BREAKS.split(text))

    def denies(self, text: str) -> bool:
        """Say whether a message is a denial and nothing else: an answer in words that leaves nothing to decide."""
        pieces = [self._piece(words(piece)) for piece in _BREAKS.split(text)]
        return (
            all(piece.plain for piece in pieces)
            and any(piece.denies for piece in pieces)
            and not any(piece.affirms for piece in pieces)
        )

    def names_something(self, text: str, *, asks: bool = False) -> bool:
        """Say whether there is a word in a message that names something, and more than a denial of it.

        `asks`: whether it is a question; "does the jab make me sick?" tells of nothing that was.
        """
        # A phrase may be written over a mark: "box, under my collarbone".
        said, place = words(text), 0
        while place < len(said):
            harmless, named = self._harmless_at(said, place), self._named_at(said, place)
            if named > harmless:
                return not self.is_plain(text)
            place += harmless or 1
        told = not asks and any(one.within(said) and other.within(said) for one, other in self.together)
        return told and not self.is_plain(text)

    def hints_at_something(self, text: str) -> bool:
        """Say whether a message speaks of the body or of treatment, and does not only deny: in doubt, it matters."""
        return self.signs.within(words(text)) and not self.is_plain(text)

    def states_something(self, text: str) -> bool:
        """Say whether a message tells of one's body or work in words that are not listed: "ich hab ein Nevro"."""
        pieces = [" ".join(self._without_harmless(words(piece))) for piece in _BREAKS.split(text.replace(":", " "))]
        return self.statements.tell(", ".join(pieces)) and not self.is_plain(text)

    def _without_harmless(self, said: Sequence[str]) -> list[str]:
        """Return the words but for what only looks like something; of "my car has a metal roof" what follows it."""
        rest, place = list[str](), 0
        while place < len(said):
            harmless = self._harmless_at(said, place)
            rest = [*([] if self.things.length_at(said, place) else rest), *([] if harmless else [said[place]])]
            place += harmless or 1
        return rest

    def says_nothing(self, text: str) -> bool:
        """Say whether a message is thanks, a goodbye or a plain denial: "nein danke, bis Dienstag"."""
        rest = [" ".join(self._without_courtesy(words(piece))) for piece in _BREAKS.split(text)]
        return self.is_plain(", ".join(rest))

    def _without_courtesy(self, said: Sequence[str]) -> list[str]:
        return [word for word in said if word not in self.courtesy or word in self.denials]

    def contradicts_itself(self, text: str) -> bool:
        """Say whether a message is yes and no at once, and nothing else: "yes no"."""
        said = set(words(text))
        both = not said.isdisjoint(self.affirms) and not said.isdisjoint(self.clears.exact)
        return both and said <= self.affirms | self.denials

    def is_of_oneself(self, text: str) -> bool:
        """Say whether a patient speaks of themselves, as in "may I go in with my pacemaker?"."""
        return not self.own.isdisjoint(words(text))

    def without_others(self, text: str) -> str:
        """Return a message without what it says of somebody else, or of an animal: "my sister has a pacemaker".

        All of it stays where the patient may mean themselves, too: "my sister has one, so do I".
        """
        parted = self.excepting.sub(",", text) if self.excepting is not None else text
        pieces = [piece.strip() for piece in _BREAKS.split(parted) if words(piece)]
        rest = [piece for piece in pieces if not self._is_of_others(words(piece))]
        joined = any(
            not self.is_plain(piece) and (self.has.within(words(piece)) or not self.too.isdisjoint(words(piece)))
            for piece in rest
        )
        return text if joined or len(rest) == len(pieces) else ", ".join(rest)

    def excepted(self, text: str) -> str:
        """Return what a message excepts from its denial: "gadolinium" of "none except gadolinium"; or nothing."""
        for found in self.excepting.finditer(text) if self.excepting is not None else ():
            before = words(text[: found.start()])
            if not self.denials.isdisjoint(before) and words(text[found.end() :]):
                return text[found.end() :].strip(" ,.:;")
        return ""

    def _is_of_others(self, said: Sequence[str]) -> bool:
        """Say whether a piece is about somebody of the patient's, from its beginning on: "mein alter Hund hat …"."""
        for place in range(1, len(said)):
            before = said[max(0, place - 2) : place]
            if not self.others.length_at(said, place) or self.own.isdisjoint(before):
                continue
            seen_by = self.doctors.length_at(said, max(0, place - 2)) > 0  # "beim Nierenarzt meiner Mutter"
            named = not seen_by and any(self._named_at(said, earlier) for earlier in range(place))
            if named or said[place + 1 : place + 2] == ["s"]:
                return False  # "my kidney is my sister's"
            besides = [at for at in range(len(said)) if not place - len(before) <= at <= place]
            # "Im Knie" is no "I'm", as it is written by some.
            own = (said[at] for at in besides if not self.statements.is_part(said, at + 1))
            return self.own.isdisjoint(own) and self.too.isdisjoint(said[at] for at in besides)
        return False

    def _piece(self, said: Sequence[str]) -> _Piece:
        """Read a piece without a mark in it, word by word; one that says anything else is not plain."""
        denied = denies = affirms = organ = False
        well, refused, place = list[int](), list[int](), 0
        while place < len(said):
            word, step, after = said[place], 1, said[place + 1 : place + 2]
            named, harmless = self._named_at(said, place), self.harmless.length_at(said, place)
            cleared, part = self.clears.length_at(said, place), self.organs.length_at(said, place)
            joins = not self.joins.isdisjoint(after)
            denied = denied and not self._begins_anew(said, place)
            affirms = affirms or (word in self.affirms and not cleared)
            if harmless >= max(named, cleared, 1):
                step = harmless
            elif cleared > 1 or (cleared and word not in self.denials):
                denies, step = True, cleared
            elif word in self.denials:
                denied = denies = True
                refused += [] if cleared else [place]
            elif part:
                # "No heart valve" goes on; "nix am Herz" ends here, unless the next word goes on with it.
                compound = bool(after) and said[place - 1 : place] != [] and said[place - 1] in self.denials
                denied = denied and (joins or (compound and self._named_at(said, place + 1) > 0))
                organ, step = True, part
            elif word in self.closes:
                denied = denied and joins  # "no problems with my stent" denies no stent
            elif named and denied:
                # What it denies ends here, unless the next word goes on with it.
                denied = not self.joins.isdisjoint(said[place + named : place + named + 1])
                step = named
            elif word in self.well and not named:
                well.append(place)
            elif not named and self._excepts_harmless(said[place:]):
                denies = True
            elif named or not (word in self.around or word in self.affirms):
                return _Piece(plain=False)
            place += step
        if self.spoils.within(said) or (not denies and self.has.within(said)):
            return _Piece(plain=False)
        # "Die Nieren sind gesund" denies; "nicht gesund", "not so good" and "gesund sind sie nicht" do not.
        unwell = any(0 < fine - refusal < NEAR for refusal in refused for fine in well) or (organ and well and refused)
        if unwell or (organ and not (denies or well)):
            return _Piece(plain=False)
        return _Piece(plain=True, denies=denies or (organ and bool(well)), affirms=affirms)

    def _begins_anew(self, said: Sequence[str], place: int) -> bool:
        """Say whether a clause of its own begins at a place: "no and I might be pregnant", "no I have a pacemaker"."""
        before, word, first = said[place - 1], said[place], place == 1
        whole = before in self.denials and before in self.clears.exact  # "no", not "kein"
        return (first and whole and word in self.joins) or (word in self.own and (whole or before in self.joins))

    def _excepts_harmless(self, said: Sequence[str]) -> bool:
        """Say whether a word excepts only what is harmless: "nur eine Brille"."""
        if self.excepting is None or not self.excepting.fullmatch(said[0]):
            return False
        rest = [word for word in said[1:] if word not in self.around]
        return bool(rest) and all(self.harmless.length_at(rest, place) for place in range(len(rest)))

    def _harmless_at(self, said: Sequence[str], place: int) -> int:
        """Return how many words from a place on only look like something; also "car has a new battery"."""
        end = place + self.things.length_at(said, place)
        if end > place:
            while end < len(said) and said[end] in self.between:
                end += 1
            if end - place > 1 and end < len(said) and (made := self.materials.length_at(said, end)):
                return end + made - place
        return self.harmless.length_at(said, place)

    def _named_at(self, said: Sequence[str], place: int) -> int:
        """Return how many words from a place on name something; 0 where none do."""
        word, long_ = said[place], _long_words(self.names.exact)
        mistyped = len(word) >= MIN_MISTYPED and word not in self.around and bool(near(word, long_))
        return self.names.length_at(said, place) or int(mistyped)


@lru_cache(maxsize=8)
def _long_words(known: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in known if len(word) >= MIN_MISTYPED)


@lru_cache(maxsize=8)
def _lexicon(stated: tuple[tuple[str, str], ...]) -> Lexicon:
    """Return what lists of words come to, by what each list is."""
    listed: dict[str, list[str]] = {}
    for name, text in stated:
        listed.setdefault(name, []).append(text)

    def terms(name: str) -> Terms:
        return Terms.of(listed.get(name, ()))

    def plain(name: str) -> frozenset[str]:
        return frozenset(word for text in listed.get(name, ()) for word in words(text))

    excepting = [" ".join(each.split()) for text in listed.get("excepting", ()) for each in text.split(",")]
    longest = "|".join(
        re.escape(each).replace(r"\ ", r"\s+") for each in sorted(excepting, key=len, reverse=True) if each
    )
    apart = ("around", "own", "denials", "affirms", "joins", "well", "closes")
    return Lexicon(
        names=terms("words"),
        harmless=terms("harmless"),
        denials=plain("denials"),
        clears=terms("clears"),
        spoils=terms("spoils"),
        affirms=plain("affirms"),
        has=terms("has"),
        around=plain("around"),
        joins=plain("joins"),
        organs=terms("organs"),
        well=plain("well"),
        closes=plain("closes"),
        own=plain("own"),
        others=terms("others"),
        too=plain("too"),
        doctors=terms("doctors"),
        together=tuple(
            (Terms.of([one]), Terms.of([other]))
            for one, _, other in (each.partition("+") for each in listed.get("together", ()))
        ),
        signs=terms("signs"),
        things=terms("things"),
        between=plain("between"),
        materials=terms("materials"),
        courtesy=plain("courtesy"),
        statements=Statements.of(listed, frozenset[str]().union(*map(plain, apart))),
        excepting=re.compile(rf"(?<!\w)(?:{longest})(?!\w)", re.IGNORECASE) if longest else None,
    )
