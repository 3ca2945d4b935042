"""All bytes of a Parquet file, unpacked: pages, dictionaries, filters, indexes and the footer.

A reader shows rows, and what it takes no notice of it skips. Here each page is found by its header,
as the format has it, and unpacked, so that nothing lies in a file that no test has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MAGIC = b"PAR1"
DICTIONARY, DATA_V2 = 2, 3
"""Kinds of pages that differ from the first kind of data pages."""


@dataclass(frozen=True)
class Inside:
    """What a file holds.

    Attributes:
        pages: of all columns, unpacked, dictionaries among them.
        rest: all bytes that are in no page: bloom filters, indexes, the footer, and gaps.
        footer: how many of these are the footer and its length, at the end.
    """

    pages: bytes
    rest: bytes
    footer: int

    @property
    def all(self) -> bytes:
        """Both."""
        return self.pages + self.rest


class _Compact:
    """Reads Thrift's compact protocol: structs as dicts by the number of the field."""

    def __init__(self, given: bytes, place: int) -> None:
        self.given, self.place = given, place

    def _byte(self) -> int:
        self.place += 1
        return self.given[self.place - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found

    def _whole(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def struct(self) -> dict[int, Any]:
        """One struct."""
        found: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._whole()
            found[field] = self._value(head & 0x0F)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind == 7:
            self.place += 8
            return None
        if kind == 8:
            length = self._varint()
            self.place += length
            return self.given[self.place - length : self.place]
        if kind in (9, 10):
            head = self._byte()
            many = head >> 4 if head >> 4 < 15 else self._varint()
            return [
                self._byte() if head & 0x0F in (1, 2) else self._value(head & 0x0F)
                for _ in range(many)
            ]
        assert kind == 12, kind
        return self.struct()


def inside(path: str | Path) -> Inside:
    """What a file holds, unpacked."""
    content = Path(path).read_bytes()
    assert content[:4] == content[-4:] == MAGIC
    metadata = pq.read_metadata(path)
    pages, taken = [], []
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            begin = column.data_page_offset
            if column.dictionary_page_offset:
                begin = min(begin, column.dictionary_page_offset)
            end = begin + column.total_compressed_size
            pages += _pages(content, begin, end, column.compression)
            taken.append((begin, end))
    rest, place = [], 0
    for begin, end in sorted(taken):
        assert begin >= place, "columns lie over each other"
        rest.append(content[place:begin])
        place = end
    rest.append(content[place:])
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return Inside(b"\n".join(pages), b"\n".join(rest), footer)


def _pages(content: bytes, begin: int, end: int, compression: str) -> list[bytes]:
    """The pages of a column, each with its header: statistics stand there, too."""
    found = []
    while begin < end:
        reader = _Compact(content, begin)
        header = reader.struct()
        body = content[reader.place : reader.place + header[3]]
        found.append(content[begin : reader.place])
        plain = 0
        if header[1] == DATA_V2:  # levels lie before what is packed
            plain = header[8][5] + header[8][6]
            found.append(body[:plain])
        packed = body[plain:]
        if compression != "UNCOMPRESSED" and packed and header.get(8, {}).get(7, True):
            codec = pa.Codec({"LZ4": "lz4_raw"}.get(compression, compression.lower()))
            packed = codec.decompress(packed, header[2] - plain).to_pybytes()
        found.append(packed)
        begin = reader.place + header[3]
    assert begin == end, "pages don't fill their column"
    return found
