"""The site's key for releases: Ed25519. Whoever makes releases holds the private one; services know the public ones."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from bot.catalog.approval import IsOurs
from bot.errors import BadData, UserFixable
from bot.release.release import Release

_NEW = "Make one with `klartext release new-key --out FILE`."


def new_key(path: Path) -> str:
    """Write a new private key into a file that only its owner can read; return the public one.

    Raises:
        BadData: The file exists, or cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
    except FileExistsError:
        raise BadData(f"{path} exists already, and a key is never overwritten. Choose another `--out`.") from None
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be written'}. Choose another `--out`.") from None
    return _public(key.public_key())


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs releases with the site's private key."""

    key: Ed25519PrivateKey

    @classmethod
    def of(cls, path: Path | None) -> Self:
        """Read the key; raise UserFixable when there is none in this file."""
        if path is None:
            raise UserFixable(f"KLARTEXT_RELEASE_KEY_FILE is not set, and releases are signed. {_NEW}")
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise UserFixable(
                f"KLARTEXT_RELEASE_KEY_FILE names {str(path)!r}, which cannot be read ({error.strerror})."
            ) from None
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise UserFixable(
                f"KLARTEXT_RELEASE_KEY_FILE names {str(path)!r}, which holds no unencrypted Ed25519 key. {_NEW}"
            )
        return cls(key)

    @property
    def public(self) -> str:
        return _public(self.key.public_key())

    def sign(self, release: Release) -> Release:
        """Return the release with its signature."""
        return replace(release, signature=self.prove(release.signed))

    def prove(self, said: bytes) -> str:
        """Return a signature under some bytes, as base64."""
        return base64.b64encode(self.key.sign(said)).decode()


@dataclass(frozen=True, slots=True)
class Trust:
    """The public keys whose releases may be shown."""

    keys: tuple[Ed25519PublicKey, ...]

    @classmethod
    def of(cls, written: Sequence[str], signing: Path | None) -> Self:
        """Read public keys, and the one of the private key where that is at hand.

        Raises:
            UserFixable: One is no key, or there is none.
        """
        keys = [_read(number, text) for number, text in enumerate(written, 1)]
        if signing is not None:
            keys.append(Signer.of(signing).key.public_key())
        if not keys:
            raise UserFixable(
                "KLARTEXT_RELEASE_TRUST is not set: nobody can tell whose releases may be shown. Set it to what "
                "`klartext release new-key` printed."
            )
        return cls(tuple(keys))

    def require(self, release: Release) -> None:
        """Raise UserFixable unless one of the keys has signed the release as it is."""
        if self.is_ours(release.signed, release.signature):
            return
        raise UserFixable(
            f"Release {release.name} is not signed by a key in KLARTEXT_RELEASE_TRUST, or was changed. Make it anew "
            "with `klartext release make`, or add the key that signed it."
        )

    def is_ours(self, said: bytes, signature: str) -> bool:
        """Say whether one of the keys has made a signature (base64) under some bytes."""
        return any(_is_signed(key.public_bytes(Encoding.Raw, PublicFormat.Raw), said, signature) for key in self.keys)


@dataclass(frozen=True, slots=True)
class SiteKeys:
    """Fulfils `bot.release.publishing.Keys`: keys are read when they are needed, so that a mended one counts at once.

    Attributes:
        trusted: Public keys whose releases may be shown.
        signing: File of the private key; None: releases are not made here.
    """

    trusted: Sequence[str]
    signing: Path | None

    def sign(self, release: Release) -> Release:
        return Signer.of(self.signing).sign(release)

    def require(self, release: Release) -> None:
        Trust.of(self.trusted, self.signing).require(release)

    def prove(self, said: bytes) -> str:
        return Signer.of(self.signing).prove(said)

    def believed(self) -> IsOurs:
        return Trust.of(self.trusted, self.signing).is_ours


@lru_cache(maxsize=20_000)  # of a catalog's signatures, which each page of the console asks for
def _is_signed(public: bytes, said: bytes, signature: str) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(signature, validate=True), said)
    except (InvalidSignature, binascii.Error):
        return False
    return True


def _public(key: Ed25519PublicKey) -> str:
    return base64.urlsafe_b64encode(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def _read(number: int, text: str) -> Ed25519PublicKey:
    try:
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(text))
    except (ValueError, binascii.Error):
        raise UserFixable(
            f"Key {number} in KLARTEXT_RELEASE_TRUST is no Ed25519 key. Write what `klartext release new-key` printed; "
            "several are separated by commas."
        ) from None
