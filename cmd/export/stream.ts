import { createHash } from 'node:crypto';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportFormats } from '../../internal/export/formats.ts';
import type { Record } from '../../internal/record/record.ts';
import type { Options } from './options.ts';

/** Events of one query. */
const pageSize = 2_000;

/** What a stream has sent. */
export interface Sent {
  events: number;
  sha256: string;
}

/** Writes the events of an organization to a stream, as fast as its reader takes them. */
export async function exportStream(
  record: Pick<Record, 'exportEvents'>,
  organization: string,
  { from, to, after, format = 'ndjson' }: Options,
  output: Writable,
): Promise<Sent> {
  const hash = createHash('sha256');
  let events = 0;
  async function* pieces(): AsyncGenerator<string | Uint8Array> {
    const encoder = exportFormats[format].begin(after !== undefined);
    for await (const { items } of record.exportEvents(organization, { from, to }, { limit: pageSize, after })) {
      events += items.length;
      yield encoder.add(items);
    }
    yield encoder.end();
  }
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces()) {
      const bytes = Buffer.from(piece);
      hash.update(bytes);
      if (bytes.length > 0) yield bytes;
    }
  }
  await pipeline(Readable.from(hashed(), { objectMode: false }), output, { end: false });
  return { events, sha256: hash.digest('hex') };
}
