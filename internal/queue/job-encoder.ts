import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AcceptedEvent } from '../event/event.ts';
import { heldBytes } from '../event/held-bytes.ts';
import { pack, packLarge } from './compression.ts';
import { joinDigests } from './digests.ts';
import { toRow, toTimedRow, type JobData, type Row, type TimedRow } from './job.ts';

export interface EncodeOptions {
  /** True adds the digests of the events. Those that came with events stay in any case. */
  digests?: boolean | undefined;
}

/** Packs events into job data, in order. */
export function encodeJob(events: readonly AcceptedEvent[], options: EncodeOptions = {}): JobData {
  const data = rowsOf(events);
  const json = JSON.stringify(data.rows);
  const zstd = pack(json);
  const packed = zstd.length < json.length ? { v: data.v, zstd } : data;
  return hasDigests(events, options) ? { ...packed, digests: joinDigests(events) } : packed;
}

/** Memory of the events of a step, in bytes: about 1 ms. */
const stepBytes = 131_072;

/**
 * As {@link encodeJob}, for events that take much memory: in short steps, with turns of the event
 * loop between them, and compressed on another thread.
 */
export async function encodeLargeJob(events: readonly AcceptedEvent[], options: EncodeOptions = {}): Promise<JobData> {
  const timed = isTimed(events);
  const isDigested = hasDigests(events, options);
  const pieces: Buffer[] = [];
  let digests = '';
  for (const step of stepsOf(events)) {
    const rows = JSON.stringify(rowsOf(step, timed).rows).slice(1, -1);
    pieces.push(Buffer.from(`${pieces.length === 0 ? '[' : ','}${rows}`));
    if (isDigested) digests += joinDigests(step);
    await nextTurn();
  }
  const zstd = await packLarge(Buffer.concat([...pieces, Buffer.from(']')]));
  return { v: timed ? 2 : 1, zstd, ...(isDigested && { digests }) };
}

function stepsOf(events: readonly AcceptedEvent[]): AcceptedEvent[][] {
  const steps: AcceptedEvent[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    if (bytes > stepBytes) {
      steps.push([]);
      bytes = 0;
    }
    steps.at(-1)?.push(event);
    bytes += heldBytes(event);
  }
  return steps;
}

function hasDigests(events: readonly AcceptedEvent[], { digests = false }: EncodeOptions): boolean {
  return digests || events.some(({ digest }) => digest !== undefined);
}

function isTimed(events: readonly AcceptedEvent[]): boolean {
  return events.some(({ occurredAt }) => occurredAt !== undefined);
}

function rowsOf(
  events: readonly AcceptedEvent[],
  timed = isTimed(events),
): { v: 1; rows: Row[] } | { v: 2; rows: TimedRow[] } {
  return timed ? { v: 2, rows: events.map(toTimedRow) } : { v: 1, rows: events.map(toRow) };
}
