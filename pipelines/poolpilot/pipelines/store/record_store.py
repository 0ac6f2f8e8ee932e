"""The record store: immutable Parquet segments that many collectors may write at once."""

import hashlib
import io
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import StoreError

_LOG = logging.getLogger(__name__)

_DIGEST_CHARACTERS = 32
_NAME = re.compile(rf"(?P<run_id>[A-Za-z0-9._-]+)-(?P<digest>[0-9a-f]{{{_DIGEST_CHARACTERS}}})\.parquet")


@dataclass(frozen=True, slots=True)
class Segment:
    """One immutable file of the store.

    Attributes:
        path: Where it lies; its name carries the run that wrote it and the head of its digest.
        digest: SHA-256 of its bytes, in hexadecimal.
    """

    path: Path
    digest: str


class RecordStore:
    """A folder of Parquet segments; the segments are the truth, everything else can be rebuilt from them.

    A segment is written beside its place, flushed to the disk and renamed, so a reader sees it whole or not at
    all, and no two writers ever share a file. Its name carries the head of its SHA-256: a file whose bytes do
    not fit its name is renamed to `*.torn`, named in a warning and in `torn`, and the rest is read.

    Args:
        directory: Folder of the segments; made by the first `append`.
        schema: Columns of a row.
        later: Columns that older segments lack, with the value that holds for all their rows; None is null.
    """

    def __init__(self, directory: Path, schema: pa.Schema, later: Mapping[str, str | None] | None = None) -> None:
        self.directory = directory
        self.schema = schema
        self.later = dict(later or {})
        self._torn: set[str] = set()

    @property
    def torn(self) -> tuple[str, ...]:
        """Names of the segments set aside, now or by an earlier reader."""
        earlier = {path.name.removesuffix(".torn") for path in self.directory.glob("*.torn")}
        return tuple(sorted(self._torn | earlier))

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The sound segments, by digest; a torn one is set aside."""
        return self._sound(set_aside=True)

    @property
    def sound(self) -> tuple[Segment, ...]:
        """The same for who only looks: a torn one is left where it is, unread."""
        return self._sound(set_aside=False)

    @property
    def digest(self) -> str:
        """SHA-256 over the sorted digests of the segments: one name for the data as a whole."""
        return hashlib.sha256("".join(segment.digest for segment in self.segments).encode()).hexdigest()

    def append(self, rows: Sequence[Mapping[str, object]], run_id: str) -> Segment:
        """Writes the rows as one new segment; it is on the disk when this returns.

        Args:
            rows: At least one row; a column of the schema that a row lacks is null.
            run_id: Names the writer in the file name.

        Raises:
            StoreError: There is no row, a row has a column the schema lacks, or the disk refuses.
        """
        content = _as_parquet(rows, self.schema)
        digest = hashlib.sha256(content).hexdigest()
        name = f"{run_id}-{digest[:_DIGEST_CHARACTERS]}.parquet"
        if not _NAME.fullmatch(name):
            raise StoreError(f"the run id {run_id!r} must consist of letters, digits, '.', '_' and '-'")
        path = self.directory / name
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            write_durably(path, content)
        except OSError as error:
            raise StoreError(f"cannot write a segment into {self.directory}: {error.strerror}") from error
        return Segment(path, digest)

    def scan(self) -> pa.Table:
        """All rows of the sound segments; an empty table when there are none.

        Raises:
            StoreError: A segment is sound but was written with other columns.
        """
        tables = [self.read(segment.path) for segment in self.segments]
        return pa.concat_tables(tables) if tables else self.schema.empty_table()

    def read(self, path: Path) -> pa.Table:
        """The rows of one segment, in the columns of today.

        Raises:
            StoreError: It is no Parquet file, or was written with other columns.
        """
        try:
            table = pq.ParquetFile(path).read()
        except pa.ArrowInvalid as error:
            raise StoreError(f"segment {path} is no Parquet file: {error}") from error
        for name in self.later.keys() - set(table.schema.names):
            column = pa.array([self.later[name]] * table.num_rows, self.schema.field(name).type)
            table = table.append_column(name, column)
        if set(table.schema.names) != set(self.schema.names):
            differing = sorted(set(table.schema.names) ^ set(self.schema.names))
            raise StoreError(
                f"segment {path} was written by another version (column {differing[0]!r} differs): "
                "collect into a new directory"
            )
        try:
            return table.select(self.schema.names).cast(self.schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise StoreError(
                f"segment {path} holds values of other kinds than this version ({error}): collect into a new directory"
            ) from error

    def _sound(self, *, set_aside: bool) -> tuple[Segment, ...]:
        found = (self._verified(path, set_aside=set_aside) for path in sorted(self.directory.glob("*.parquet")))
        return tuple(sorted((one for one in found if one is not None), key=lambda segment: segment.digest))

    def _verified(self, path: Path, *, set_aside: bool) -> Segment | None:
        try:
            sound = sound_segment(path)
        except FileNotFoundError:
            return None
        if sound is None and set_aside:
            self._set_aside(path)
        return sound

    def _set_aside(self, path: Path) -> None:
        self._torn.add(path.name)
        _LOG.warning("segment %s is torn: set aside, the rest is read", path)
        try:
            path.rename(path.with_name(path.name + ".torn"))
        except OSError:
            _LOG.warning("segment %s could not be renamed and is skipped at every read", path)


def sound_segment(path: Path) -> Segment | None:
    """The segment of a file whose bytes fit its name; None for any other file.

    Raises:
        OSError: The file cannot be read.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    match = _NAME.fullmatch(path.name)
    return Segment(path, digest) if match is not None and digest.startswith(match["digest"]) else None


def _as_parquet(rows: Sequence[Mapping[str, object]], schema: pa.Schema) -> bytes:
    if not rows:
        raise StoreError("a segment needs at least one row")
    unknown = sorted({name for row in rows for name in row} - set(schema.names))
    if unknown:
        raise StoreError(f"the record schema has no column {unknown[0]!r}")
    try:
        table = pa.Table.from_pylist(list(rows), schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise StoreError(f"a row does not fit the record schema: {error}") from error
    sink = io.BytesIO()
    # Segments are small and read whole: statistics and a second copy of the schema would be a third of their size.
    pq.write_table(table, sink, compression="zstd", compression_level=9, write_statistics=False, store_schema=False)
    return sink.getvalue()
