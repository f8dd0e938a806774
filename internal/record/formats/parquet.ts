import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, type ColumnSource, type SchemaElement } from 'hyparquet-writer';
import { heldTextBytes } from '../../event/held-bytes.ts';
import type { ProvenEvent } from '../stored-event.ts';
import { automationId, columns, keyColumns } from './columns.ts';
import type { EventEncoder, ExportFormat } from './format.ts';

/**
 * The bounds of a row group: rows, and bytes of their texts in memory. A reader of one execution
 * reads one group, half a megabyte; larger ones would save a byte an event.
 */
const [firstRows, mostBytes] = [5_000, 8 * 1_024 * 1_024];

/**
 * A group may have this share of the rows before it. A reader holds the footer, with up to 15 kB a
 * group, so a day of many millions gets larger groups.
 */
const growth = 1 / 500;

/** Bytes of a minimum and a maximum in the footer: enough to tell UUIDs apart. */
const statisticsTruncateLength = 64;

/**
 * Level 13 of zstd takes a sixth off an archive, which is kept for years, and a third longer than
 * the default. Reading is as fast.
 */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 13 } };

/** Parquet, compressed with zstd: smaller than with Snappy, and native code. */
export const parquet: ExportFormat = {
  type: 'application/vnd.apache.parquet',
  heldBytes: 2 * mostBytes,
  begin: () => new ParquetEncoder(firstRows),
};

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
const time = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;

const keys: ReadonlySet<string> = new Set(keyColumns);
const times: ReadonlySet<string> = new Set(['created_at', 'occurred_at']);
const optional: ReadonlySet<string> = new Set(['salt', 'texts_digest', 'occurred_at']);

const schema: SchemaElement[] = [
  { name: 'event', num_children: columns.length + 1 },
  ...columns.map((name): SchemaElement => ({
    name,
    ...(times.has(name) ? time : text),
    repetition_type: optional.has(name) ? 'OPTIONAL' : 'REQUIRED',
  })),
  { name: automationId, ...text, repetition_type: 'REQUIRED' },
];

/** Writes row groups of about `firstRows`, and of more once there are many. */
export class ParquetEncoder implements EventEncoder {
  #mostRows: number;
  #written = 0;
  readonly #bytes = new ByteWriter();
  readonly #writer = new ParquetWriter({
    writer: this.#bytes,
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: (input) => zstdCompressSync(input, compression) },
    createdBy: 'runledger',
    statisticsTruncateLength,
  });
  #events: ProvenEvent[] = [];
  #bytesHeld = 0;

  constructor(firstRows: number) {
    this.#mostRows = firstRows;
  }

  add(events: readonly ProvenEvent[]): Uint8Array {
    for (const event of events) {
      this.#events.push(event);
      for (const column of columns) this.#bytesHeld += heldTextBytes(event[column] ?? '');
      if (this.#events.length >= this.#mostRows || this.#bytesHeld >= mostBytes) this.#writeGroup();
    }
    return this.#taken();
  }

  end(): Uint8Array {
    if (this.#events.length > 0) this.#writeGroup();
    void this.#writer.finish();
    return this.#taken();
  }

  #writeGroup(): void {
    const events = this.#events;
    const columnData: ColumnSource[] = columns.map((name) => ({
      name,
      statistics: keys.has(name),
      data: events.map((event) => (times.has(name) ? milliseconds(event[name] ?? null) : (event[name] ?? null))),
    }));
    columnData.push({ name: automationId, data: events.map(({ automation }) => automation.toLowerCase()) });
    void this.#writer.write({ columnData, rowGroupSize: events.length });
    this.#written += events.length;
    this.#mostRows = Math.max(this.#mostRows, Math.floor(this.#written * growth));
    this.#events = [];
    this.#bytesHeld = 0;
  }

  /** A copy of the bytes since the last call, since the writer reuses its buffer. */
  #taken(): Uint8Array {
    const bytes = Buffer.from(this.#bytes.getBytes());
    this.#bytes.index = 0;
    return bytes;
  }
}

function milliseconds(at: string | null): bigint | null {
  return at === null ? null : BigInt(Date.parse(at));
}
