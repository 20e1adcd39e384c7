"""Features of a question: wording, meaning, and how near it is to each pair. Pure.

Terms are character n-grams of 3 to 5 inside padded words (they survive typing errors, dialect and German compounds),
whole words, and word pairs. Weights are TF-IDF with sublinear term frequency, scaled to unit length.

- ``ridge``: kernel ridge regression on a quadratic kernel over meaning (whitened vector) and wording (character
  n-grams and words); its closed-form solution trains thousands of variants in under a second;
- ``dense``: mean cosine of the three nearest variants of a pair in meaning;
- ``chars``: the same in wording;
- ``bm25``: Okapi BM25 of the question against all wording of a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from bot.text import fold

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]

LENGTHS = (3, 4, 5)
MIN_TEXTS = 2  # a term that one text alone has teaches nothing about others
MOST = 65535  # of 16 bits
LARGEST = 32767  # of 16 bits with a sign


def terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text, with repetitions."""
    found: list[str] = []
    previous = ""
    for word in fold(text).split():
        padded = f" {word} "
        for length in LENGTHS:
            found.extend(padded[start : start + length] for start in range(len(padded) - length + 1))
        # A leading "=" marks whole words and "+" word pairs, so that they never meet a character n-gram.
        found.append("=" + word)
        if previous:
            found.append(f"+{previous} {word}")
        previous = word
    return tuple(found)


@lru_cache(maxsize=1024)  # heads and alarm look at the same messages, a batch at a time
def _counted(text: str) -> tuple[Hashes, Counts]:
    """Return the hashes of a text's terms, each once, and how often it has each."""
    return np.unique(_hashes(terms(text)), return_counts=True)


def _hashes(terms_: Sequence[str]) -> Hashes:
    """Return 64 bits for each term, the same in all of a process; that two of a million share them never happens."""
    return np.fromiter(map(hash, terms_), dtype=np.int64, count=len(terms_))


@dataclass(frozen=True, slots=True)
class Bag:
    """One text as a sparse vector over the vocabulary.

    Attributes:
        index: Column numbers, shape (terms,), increasing.
        weight: TF-IDF weights, shape (terms,), of unit length.
    """

    index: Ints
    weight: Floats


class Vocabulary:
    """The terms of a catalog and their weights; `idf` is theirs, in order.

    A service holds six of them, of up to a hundred thousand terms. They are found by their hashes: strings and a
    dictionary of them would take eight times the memory, and each message would be looked up term by term.
    """

    def __init__(self, terms_: Sequence[str], idf: Floats) -> None:
        self.idf = idf
        self._size = len(terms_)
        self._joined = "\n".join(terms_).encode()  # no term has white space in it but blanks
        hashes = _hashes(terms_)
        self._column = np.argsort(hashes).astype(np.int32)
        self._hashes = hashes[self._column]

    def __len__(self) -> int:
        return self._size

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms, in order. Made anew each time: only who stores or fits them asks."""
        return tuple(self._joined.decode().split("\n")) if self._size else ()

    @classmethod
    def of(cls, texts: Sequence[str]) -> Vocabulary:
        """Learn the vocabulary of a catalog's texts; idf is ln((1 + n) / (1 + df)) + 1."""
        return cls.with_bags(texts)[0]

    @classmethod
    def with_bags(cls, texts: Sequence[str]) -> tuple[Vocabulary, list[Bag]]:
        """Learn the vocabulary of texts, and return their bags with it: their terms are looked for once only."""
        number: dict[str, int] = {}
        counted = [
            np.unique([number.setdefault(term, len(number)) for term in terms(text)] or [], return_counts=True)
            for text in texts
        ]
        frequency = np.bincount(
            np.concatenate([[], *(index for index, _ in counted)]).astype(np.int64), minlength=len(number)
        )
        least = min(MIN_TEXTS, len(texts))
        kept = sorted(term for term, place in number.items() if frequency[place] >= least)
        column = np.full(len(number), -1, dtype=np.int32)
        column[[number[term] for term in kept]] = np.arange(len(kept), dtype=np.int32)
        df = frequency[[number[term] for term in kept]].astype(np.float64)
        learned = cls(kept, (np.log((1 + len(texts)) / (1 + df)) + 1).astype(np.float32))
        return learned, [learned._weighed(column[index.astype(np.int64)], count) for index, count in counted]

    def _weighed(self, column: Ints, count: Counts) -> Bag:
        """Return the bag of a text by the columns of its terms, -1 for those left out, and how often it has each."""
        inside = column >= 0
        order = np.argsort(column[inside])
        index = column[inside][order]
        weight = (1 + np.log(count[inside][order].astype(np.float32))) * self.idf[index]
        length = float(np.sqrt(weight @ weight)) or 1.0
        return Bag(index, weight / np.float32(length))

    def bag(self, text: str) -> Bag:
        """Return the TF-IDF vector of a text; terms outside the vocabulary are left out."""
        hashes, count = _counted(text)
        if not self._size:
            return Bag(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
        place = np.minimum(np.searchsorted(self._hashes, hashes), self._size - 1)
        return self._weighed(np.where(self._hashes[place] == hashes, self._column[place], -1), count)


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Bags of all texts of a catalog, column by column: which texts hold a term, and with what weight.

    Entries are in the millions, so numbers of texts and weights take 16 bits each where they can: a weight is kept as a
    share of the largest of its text, as in `PackedVectors`.

    Attributes:
        start: Shape (vocabulary + 1,): column c occupies start[c] to start[c + 1].
        text: Text numbers, shape (entries,).
        share: Of the largest weight of the text, times `MOST`, shape (entries,).
        scale: The largest weight of each text over `MOST`, shape (texts,).
    """

    start: Ints
    text: npt.NDArray[np.uint16] | Ints
    share: npt.NDArray[np.uint16]
    scale: Floats

    @classmethod
    def of(cls, bags: Sequence[Bag], vocabulary_size: int) -> Postings:
        """Turn the bags by columns; within a column texts stay in order."""
        return cls.of_rows(sparse_rows(bags, vocabulary_size))

    @classmethod
    def of_rows(cls, rows: csr_array) -> Postings:
        """Turn bags that are the rows of a matrix, shape (texts, vocabulary)."""
        columns = rows.tocsc()
        return cls.of_columns(columns.indptr, columns.indices, columns.data, rows.shape[0])

    @classmethod
    def of_columns(cls, start: Ints, text: Ints, weight: Floats, texts: int) -> Postings:
        """Pack bags that are turned already: text numbers and weights of all entries, shape (entries,)."""
        largest = np.full(texts, 1e-9, dtype=np.float32)
        np.maximum.at(largest, text, weight)
        scale = largest / np.float32(MOST)
        share = np.rint(weight / scale[text]).astype(np.uint16)
        return cls(start, text.astype(np.uint16) if texts <= MOST + 1 else text, share, scale)

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.scale)

    @property
    def weight(self) -> Floats:
        """The weights of all entries again, but for rounding; made anew each time."""
        return np.asarray(self.share * self.scale[self.text], dtype=np.float32)

    @property
    def rows(self) -> csr_array:
        """The bags as rows again, shape (texts, vocabulary); made anew each time."""
        columns = (self.weight, self.text.astype(np.int32), self.start)
        return csc_array(columns, shape=(self.texts, len(self.start) - 1)).tocsr()

    def cosines(self, bags: Sequence[Bag]) -> Floats:
        """Return the cosine of every bag with every text, shape (bags, texts).

        Bag by bag: a text has a few hundred of the terms, and only their columns are read.
        """
        if not bags:
            return np.zeros((0, self.texts), dtype=np.float32)
        return np.stack([self._cosines(bag) for bag in bags])

    def _cosines(self, bag: Bag) -> Floats:
        if not len(bag.index):
            return np.zeros(self.texts, dtype=np.float32)
        first, last = self.start[bag.index], self.start[bag.index + 1]
        columns = [slice(*bounds) for bounds in zip(first.tolist(), last.tolist(), strict=True)]
        share = np.concatenate([self.share[column] for column in columns]).astype(np.float32)
        text = np.concatenate([self.text[column] for column in columns]).astype(np.int32)
        start = np.zeros(len(columns) + 1, dtype=np.int32)
        np.cumsum(last - first, out=start[1:])
        held = csc_array((share, text, start), shape=(self.texts, len(columns)))
        return np.asarray((held @ bag.weight) * self.scale, dtype=np.float32)


def sparse_rows(bags: Sequence[Bag], columns: int) -> csr_array:
    """Return the bags as the rows of one sparse matrix, shape (bags, columns)."""
    start = np.zeros(len(bags) + 1, dtype=np.int32)
    np.cumsum([len(bag.index) for bag in bags], out=start[1:])
    index = np.concatenate([bag.index for bag in bags])
    return csr_array((np.concatenate([bag.weight for bag in bags]), index, start), shape=(len(bags), columns))


NEAREST = 3
PIECE = 64  # texts of a class that are looked at side by side
BLOCK = 4096  # vectors widened at once: more would only cost memory
WIDENED = 512  # vectors of 16 bits widened at once: more would leave the processor's memory
WHITENED = 64  # directions weaker than the 64th are not blown up
VIEWS = ("ridge", "dense", "chars", "bm25")


@dataclass(frozen=True, slots=True)
class Whitening:
    """Centres vectors and evens out their strongest directions, so that "mammogram" does not drown the question.

    Attributes:
        mean: Shape (dimensions,).
        matrix: Shape (dimensions, kept).
    """

    mean: Floats
    matrix: Floats

    def apply(self, vectors: Floats) -> Floats:
        """Return whitened unit vectors, shape (texts, kept)."""
        moved = vectors @ self.matrix - self.mean @ self.matrix
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved))[:, None]
        return np.asarray(moved / np.maximum(length, 1e-9), dtype=np.float32)


def fit_whitening(vectors: Floats, most: int | None = None) -> Whitening:
    """Learn a whitening from unit vectors, shape (texts, dimensions); keep at most so many directions."""
    mean = vectors.mean(axis=0)
    scatter = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), BLOCK):
        centred = (vectors[start : start + BLOCK] - mean).astype(np.float64)
        scatter += centred.T @ centred
    strength, directions = np.linalg.eigh(scatter)
    strength, directions = np.sqrt(np.maximum(strength[::-1], 0)), directions[:, ::-1]
    kept = strength > 1e-3 * strength[0]
    floor = strength[min(WHITENED, int(kept.sum()) - 1)]
    scaled = (directions[:, kept] / (strength[kept] + floor + 1e-9))[:, :most]
    return Whitening(mean.astype(np.float32), np.ascontiguousarray(scaled, dtype=np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class PackedVectors:
    """Vectors of all texts in half the memory: each number in 16 bits, as a share of the largest of its text.

    A service holds such vectors for each exam and language three times: of pairs, of remarks and of the alarm. They
    meet those of a question in float32 again, block by block, so that the blocks stay near the processor.

    Attributes:
        shares: Of the largest number of each text, times `LARGEST`, shape (texts, dimensions).
        scale: The largest number of each text over `LARGEST`, shape (texts,).
    """

    shares: npt.NDArray[np.int16]
    scale: Floats

    @classmethod
    def of(cls, vectors: Floats) -> PackedVectors:
        """Pack vectors, shape (texts, dimensions)."""
        scale = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-9).astype(np.float32) / np.float32(LARGEST)
        shares = np.empty(vectors.shape, dtype=np.int16)
        for start in range(0, len(vectors), WIDENED):
            rows = slice(start, start + WIDENED)
            np.rint(vectors[rows] / scale[rows, None], casting="unsafe", out=shares[rows])
        return cls(shares, scale)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def floats(self) -> Floats:
        """The vectors as they were, but for rounding; made anew each time."""
        return self.some(slice(None))

    def some(self, texts: slice | Sequence[int] | npt.NDArray[np.intp]) -> Floats:
        """Return the vectors of some texts, shape (these texts, dimensions)."""
        return np.asarray(self.shares[texts] * self.scale[texts, None], dtype=np.float32)

    def products(self, vectors: Floats) -> Floats:
        """Return the scalar products of vectors with those of all texts, shape (vectors, texts)."""
        # The many on the left: for few questions the product the other way round takes half as long again.
        asked = np.ascontiguousarray(vectors.T)
        found = np.empty((len(self), len(vectors)), dtype=np.float32)
        widened = np.empty((min(WIDENED, len(self)), self.shares.shape[1]), dtype=np.float32)
        for start in range(0, len(self), WIDENED):
            rows = slice(start, start + WIDENED)
            block = widened[: len(self.shares[rows])]
            np.copyto(block, self.shares[rows])
            np.matmul(block, asked, out=found[rows])
        found *= self.scale[:, None]
        return np.ascontiguousarray(found.T)


@dataclass(frozen=True, slots=True)
class Views:
    """The raw scores of the four views, for the pairs that were looked at and, last, "none of these".

    Attributes:
        scores: Shape (questions, looked at + 1, 4) in the order of `VIEWS`.
        pairs: Numbers of the pairs looked at, increasing, shape (questions, looked at): all of a small catalog.
        classes: Number of pairs plus one.
        urgency: How much each question is like complaints of each level, shape (questions, levels); the ridge says so
            in passing. No levels where a catalog was taught no complaints.
    """

    scores: Floats
    pairs: Ints
    classes: int
    urgency: Floats

    @classmethod
    def of_all(cls, scores: Floats, urgency: Floats) -> Views:
        """Return the views of all pairs; `scores` has the shape (questions, classes, 4)."""
        questions, classes = scores.shape[:2]
        pairs = np.broadcast_to(np.arange(classes - 1, dtype=np.int32), (questions, classes - 1))
        return cls(scores, pairs, classes, urgency)

    @classmethod
    def joined(cls, parts: Sequence[Views]) -> Views:
        """Return the views of all questions of the parts, in order."""
        scores = np.concatenate([part.scores for part in parts])
        pairs = np.concatenate([part.pairs for part in parts])
        return cls(scores, pairs, parts[0].classes, np.concatenate([part.urgency for part in parts]))

    def of(self, questions: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Views:
        """Return the views of some of the questions."""
        return Views(self.scores[questions], self.pairs[questions], self.classes, self.urgency[questions])

    def spread(self, probabilities: Floats) -> Floats:
        """Return probabilities of the looked at, shape (questions, looked at + 1), as those of all classes."""
        if probabilities.shape[1] == self.classes:
            return probabilities
        everything = np.zeros((len(probabilities), self.classes), dtype=np.float32)
        np.put_along_axis(everything, self.pairs, probabilities[:, :-1], axis=1)
        everything[:, -1] = probabilities[:, -1]
        return everything


@dataclass(frozen=True)
class Weights:
    """What was learned from labelled texts.

    Attributes:
        label: Class of each text, shape (texts,), non-decreasing; the last class is "none of these".
        alpha: Dual weights of the ridge, shape (texts, classes + levels of complaints).
        bias: Shape (classes + levels,).
        bm25: Term weights of each class, shape (vocabulary, classes); most terms are those of few classes.
    """

    label: Ints
    alpha: Floats
    bias: Floats
    bm25: csr_array

    @property
    def classes(self) -> int:
        return int(self.bm25.shape[1])

    @cached_property
    def blocks(self) -> Blocks:
        """Where the texts of each class stand."""
        return Blocks.of(self.label, self.classes)


def score_views(meaning: Floats, wording: Floats, bags: Sequence[Bag], weights: Weights) -> Views:
    """Score questions from their cosines with all texts, each of shape (questions, texts), and their bags."""
    ridge = quadratic(meaning, wording) @ weights.alpha + weights.bias
    scores = [
        ridge[:, : weights.classes],
        weights.blocks.nearest_mean(meaning),
        weights.blocks.nearest_mean(wording),
        bm25_scores(bags, weights.bm25),
    ]
    return Views.of_all(np.stack(scores, axis=2), ridge[:, weights.classes :])


def bm25_scores(bags: Sequence[Bag], term_weights: csr_array) -> Floats:
    """Return the mean weight of a text's terms in each class, shape (bags, classes); see `Weights.bm25`."""
    if not bags:
        return np.zeros((0, term_weights.shape[1]), dtype=np.float32)
    held = sparse_rows(bags, term_weights.shape[0])
    held.data = np.ones_like(held.data)
    # Per term, so that long questions do not score higher than short ones.
    count = np.maximum(1, np.diff(held.indptr)).astype(np.float32)
    return np.asarray((held @ term_weights).toarray() / count[:, None], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fitted catalog: everything the four views need.

    Attributes:
        vocabulary: Terms of the catalog.
        postings: Bags of all texts.
        whitening: For vectors.
        vectors: Whitened vectors of all texts.
        weights: What was learned.
    """

    vocabulary: Vocabulary
    postings: Postings
    whitening: Whitening
    vectors: PackedVectors
    weights: Weights

    def views(self, vectors: Floats, texts: Sequence[str]) -> Views:
        """Score texts with their raw vectors, shape (questions, dimensions), against every class."""
        bags = [self.vocabulary.bag(text) for text in texts]
        meaning = self.vectors.products(self.whitening.apply(vectors))
        return score_views(meaning, self.postings.cosines(bags), bags, self.weights)

    def kernel(self, white: Floats, bags: Sequence[Bag]) -> Floats:
        """Return how near questions are to every text, shape (questions, texts); `white`: their whitened vectors."""
        return quadratic(self.vectors.products(white), self.postings.cosines(bags))

    @property
    def label(self) -> Ints:
        """Class of each text, shape (texts,)."""
        return self.weights.label


def cosines(white: Floats, known: Floats) -> Floats:
    """Return the cosines of whitened vectors with those of all known texts, shape (questions, texts)."""
    # The many on the left: for few questions the product the other way round takes half as long again.
    return np.ascontiguousarray((known @ white.T).T)


def quadratic(meaning: Floats, wording: Floats) -> Floats:
    """Return the quadratic kernel of two cosines: pairs of features count, not only single ones."""
    return np.asarray(np.square(meaning + wording + 1) / 4, dtype=np.float32)


def nearest_mean(similarity: Floats, label: Ints, classes: int) -> Floats:
    """Return the mean of the three largest different similarities within each class.

    Args:
        similarity: Shape (questions, texts).
        label: Shape (texts,), non-decreasing: each class is one block of columns.
        classes: Number of classes; one without texts gets 0.

    Returns:
        Shape (questions, classes).
    """
    return Blocks.of(label, classes).nearest_mean(similarity)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Where the texts of each class stand, cut into pieces of equal length: maxima of many pieces cost next to nothing.

    Attributes:
        pieces: Numbers of the texts of each piece, shape (`PIECE`, pieces); one that is short has its first text again.
        start: Of each class that has texts, its first piece.
        lengths: How many pieces each of these classes has.
        size: Of each of these classes, how many texts it has.
        present: Numbers of these classes.
        classes: Number of classes.
    """

    pieces: npt.NDArray[np.intp]
    start: npt.NDArray[np.intp]
    lengths: npt.NDArray[np.intp]
    size: npt.NDArray[np.intp]
    present: npt.NDArray[np.intp]
    classes: int

    @classmethod
    def of(cls, label: Ints, classes: int) -> Blocks:
        """Cut the texts of classes up; `label` has the shape (texts,) and is non-decreasing."""
        bounds = np.searchsorted(label, np.arange(classes + 1))
        present = np.flatnonzero(np.diff(bounds))
        first, last = bounds[present], bounds[present + 1]
        lengths = -(-(last - first) // PIECE)
        begin = np.concatenate([[], *map(np.arange, first, last, np.full(len(first), PIECE))]).astype(np.intp)
        pieces = begin + np.arange(PIECE)[:, None]
        pieces = np.where(pieces < np.repeat(last, lengths), pieces, begin)
        return cls(pieces, np.cumsum(lengths) - lengths, lengths, last - first, present, classes)

    def nearest_mean(self, similarity: Floats) -> Floats:
        """Return the mean of the three largest different similarities within each class, shape (questions, classes).

        `similarity` has the shape (questions, texts).
        """
        left = similarity.take(self.pieces, axis=1)
        of_pieces = np.empty((len(similarity), NEAREST, self.pieces.shape[1]), dtype=np.float32)
        for nth in range(NEAREST):
            best = left.max(axis=1, out=of_pieces[:, nth])
            np.copyto(left, -np.inf, where=left >= best[:, None])
        total = nearest = np.zeros((len(similarity), len(self.present)), dtype=np.float32)
        for nth in range(NEAREST):
            best = np.maximum.reduceat(of_pieces.max(axis=1), self.start, axis=1)
            nearest = np.where(np.isfinite(best), best, nearest)  # none is left: all others were just as near
            total = total + np.where(self.size > nth, nearest, 0)
            np.copyto(of_pieces, -np.inf, where=of_pieces >= best.repeat(self.lengths, axis=1)[:, None])
        result = np.zeros((len(similarity), self.classes), dtype=np.float32)
        result[:, self.present] = total / np.minimum(self.size, NEAREST)
        return result
