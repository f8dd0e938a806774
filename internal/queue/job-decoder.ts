import type { AcceptedEvent } from '../event/event.ts';
import { Decompression } from './decompression.ts';
import { splitDigests } from './digests.ts';
import { fromRow, fromTimedRow, isRow, isTimedRow, isWholeRow, UnreadableJob } from './job.ts';

/** Unpacks job data. */
export class JobDecoder {
  readonly #decompression = new Decompression();

  /** Resolves with the events in order. Rejects with {@link UnreadableJob}. */
  async decode(data: unknown): Promise<AcceptedEvent[]> {
    const { v, rows, zstd, digests } = (data ?? {}) as Record<string, unknown>;
    const readRows = v === 1 ? events : v === 2 ? timedEvents : undefined;
    if (!readRows) throw new UnreadableJob(`job data has version ${String(v)}, this release reads versions 1 and 2`);
    const read = (found: unknown): AcceptedEvent[] => withDigests(readRows(found), digests);
    try {
      return typeof zstd === 'string' ? await this.#unpack(zstd, read) : read(rows);
    } catch (error) {
      throw new UnreadableJob('job data is damaged', { cause: error });
    }
  }

  /** Gives the decompressor's memory back, for good: jobs under way become unreadable. */
  close(): void {
    this.#decompression.close();
  }

  #unpack(zstd: string, read: (rows: unknown) => AcceptedEvent[]): Promise<AcceptedEvent[]> {
    return this.#decompression.run(Buffer.from(zstd, 'base64'), (json) => read(JSON.parse(json.toString())));
  }
}

/** The events of a job, and whether this release knows all that their rows hold. */
interface Read {
  events: AcceptedEvent[];
  isWhole: boolean;
}

function events(rows: unknown): Read {
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('rows are not events');
  return { events: rows.map(fromRow), isWhole: rows.every(isWholeRow) };
}

function timedEvents(rows: unknown): Read {
  if (!Array.isArray(rows) || !rows.every(isTimedRow)) throw new Error('rows are not events');
  return { events: rows.map(fromTimedRow), isWhole: rows.every(([, ...row]) => isWholeRow(row)) };
}

/** Gives the events their digests. */
function withDigests({ events, isWhole }: Read, digests: unknown): AcceptedEvent[] {
  if (typeof digests !== 'string') return events;
  const digestAt = splitDigests(digests, events.length);
  return isWhole ? events.map((event, at) => ({ ...event, digest: digestAt(at) })) : events;
}
