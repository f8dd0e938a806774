import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportFormats } from '../../../internal/record/formats/formats.ts';
import { createQueries } from '../../../internal/record/queries.ts';
import type { Database } from '../../../internal/store/database.ts';
import { hasEvents } from '../../../internal/store/partitions/event-days.ts';
import type { Context } from '../command.ts';
import { throwIfStopped } from '../messages.ts';
import { noEvents, type Options } from './options.ts';

/** Events of one query. */
const pageSize = 2_000;

/**
 * Writes the events of an organization to standard output, as fast as its reader takes them.
 * Resolves with a sentence with their number and the SHA-256 of the bytes.
 * @throws before writing if the record has no event of the organization.
 */
export async function exportToOutput(
  db: Database,
  organization: string,
  { from, to, after, format = 'ndjson' }: Options,
  { stdout, signal }: Pick<Context, 'stdout' | 'signal'>,
): Promise<string> {
  if (!(await hasEvents(db, organization))) throw noEvents([organization]);
  const record = createQueries(db);
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
  try {
    await pipeline(Readable.from(hashed(), { objectMode: false }), stdout, { end: false, signal });
  } catch (error) {
    throwIfStopped(signal, 'the output may lack events, and end within a line');
    throw error;
  }
  return `${events.toLocaleString('en')} events, SHA-256 ${hash.digest('hex')}`;
}
