"""Zip archives whose members are stored, not compressed: read with every size checked, and written with aligned members."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable
from typing import Any, NamedTuple

from twofold.serialization.source import Source
from twofold.support.errors import DataError

MAX_MEMBERS = 400_000
ALIGN = 64
"""Members begin at multiples of this, so that arrays mapped from them are aligned."""
END, END64, LOCATOR64, ENTRY, LOCAL = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x01\x02", b"PK\x03\x04"
BIG16, BIG32 = 0xFFFF, 0xFFFFFFFF


class Member(NamedTuple):
    """Where a member's bytes lie in the file."""

    start: int
    size: int


def looks_like(source: Source) -> bool:
    """True if the file begins as a zip archive does."""
    return source.size >= 22 and source.bytes(0, 4) in (LOCAL, END)


def members(source: Source) -> dict[str, Member]:
    """The members of an archive by name. Raises DataError for compressed, encrypted, overlapping, doubled or misplaced ones."""
    count, size, start = _directory(source)
    if count > MAX_MEMBERS or size < 46 * count:
        raise source.fault(f"its directory of {size} bytes claims {count} members; at most {MAX_MEMBERS} are allowed")
    directory = source.bytes(start, size)
    found: dict[str, Member] = {}
    at = 0
    for _ in range(count):
        if directory[at : at + 4] != ENTRY or at + 46 > size:
            raise source.fault("its directory is damaged")
        flags, method, stored, plain = *struct.unpack_from("<HH", directory, at + 8), *struct.unpack_from("<II", directory, at + 20)
        lengths = struct.unpack_from("<HHH", directory, at + 28)
        (header,) = struct.unpack_from("<I", directory, at + 42)
        name_end = at + 46 + lengths[0]
        raw, extra = directory[at + 46 : name_end], directory[name_end : name_end + lengths[1]]
        at = name_end + lengths[1] + lengths[2]
        if at > size:
            raise source.fault("its directory is damaged")
        name = raw.decode("utf-8", "replace")
        plain, stored, header = _wide(source, name, extra, [plain, stored, header])
        if method != 0 or flags & 1 or stored != plain:
            raise source.fault(f"its member {name!r} is compressed or encrypted; only stored members are read")
        if name in found:
            raise source.fault(f"it has two members {name!r}")
        found[name] = Member(_behind_header(source, name, raw, header), plain)
    _check_apart(source, found, start)
    return found


def _directory(source: Source) -> tuple[int, int, int]:
    """(number of entries, bytes, offset) of the central directory."""
    tail = source.bytes(max(0, source.size - 22 - BIG16), min(source.size, 22 + BIG16))
    at = tail.rfind(END)
    if at < 0 or at + 22 > len(tail):
        raise source.fault("it has no end of a zip archive: it was cut off")
    count, size, start = struct.unpack_from("<HII", tail, at + 10)
    if BIG16 not in (count,) and BIG32 not in (size, start):
        return count, size, start
    if at < 20 or tail[at - 20 : at - 16] != LOCATOR64:
        return count, size, start
    (place,) = struct.unpack_from("<Q", tail, at - 12)
    record = source.bytes(place, 56)
    if record[:4] != END64:
        raise source.fault("its zip64 end is damaged")
    count, size, start = struct.unpack_from("<QQQ", record, 32)
    return count, size, start


def _wide(source: Source, name: str, extra: bytes, values: list[int]) -> list[int]:
    """Plain size, stored size and offset, from the zip64 field where they are too large for their own."""
    if BIG32 not in values:
        return values
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + size]
            wide = list(struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8]))
            if len(wide) < values.count(BIG32):
                break
            return [wide.pop(0) if v == BIG32 else v for v in values]
        at += 4 + size
    raise source.fault(f"its member {name!r} has no sizes")


def _behind_header(source: Source, name: str, raw: bytes, header: int) -> int:
    """The offset of a member's bytes: behind its local header, which must bear its name."""
    local = source.bytes(header, 30)
    if local[:4] != LOCAL:
        raise source.fault(f"its member {name!r} is not where the directory says")
    name_size, extra_size = struct.unpack_from("<HH", local, 26)
    if source.bytes(header + 30, name_size) != raw:
        raise source.fault(f"its member {name!r} has another name in its own header")
    return header + 30 + name_size + extra_size


def _check_apart(source: Source, found: dict[str, Member], end: int) -> None:
    """Members must not overlap one another nor the directory: else few bytes could stand for many."""
    last = 0
    for name, member in sorted(found.items(), key=lambda item: item[1]):
        if member.start < last or member.start + member.size > end:
            raise source.fault(f"its member {name!r} overlaps another one")
        last = member.start + member.size


def write(file: Any, contents: Iterable[tuple[str, Iterable[Any]]]) -> None:
    """Write an archive of (name, pieces of bytes) to an open binary file; the same contents give the same bytes."""
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as out:
            for name, pieces in contents:
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.external_attr = 0o644 << 16
                header = 30 + len(name.encode()) + 20  # the sizes of zip64 take 20 bytes
                padding = -(out.start_dir + header + 4) % ALIGN
                info.extra = struct.pack("<HH", 0x4654, padding) + b"\0" * padding
                with out.open(info, "w", force_zip64=True) as member:
                    for piece in pieces:
                        member.write(piece)
    except (zipfile.LargeZipFile, ValueError) as error:
        raise DataError(f"the archive cannot be written: {error}") from None
