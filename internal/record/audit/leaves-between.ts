import { isErasure } from '../../ledger/erasure.ts';
import type { Act } from '../../ledger/act.ts';
import { isAct, isEvent, isLeaf, readLeaf, splitLeaves, timeOfLeaf } from '../../ledger/leaf.ts';
import { exportedEvent } from './exported-event.ts';
import { CannotCheck } from './finding.ts';

/** The lowest and the highest id of the events of an export, in bytes. */
export interface Ends {
  readonly first: Buffer;
  readonly last: Buffer;
}

/**
 * The events that an export must have: those accepted from `from` until before `to` (ms since the
 * Unix epoch) whose leaves are among the first `covered` of the log. Events with later leaves may
 * have come after the export.
 */
export interface ExportedRange {
  readonly from: number;
  readonly to: number;
  readonly covered: number;
}

const leafId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads an export once to learn which leaves to keep. @throws {CannotCheck} if it has no event. */
export async function endsOf(lines: AsyncIterable<string>, organization: string): Promise<Ends> {
  let [first, last] = ['', ''];
  for await (const line of lines) {
    if (line === '') continue;
    const { id } = exportedEvent(line, organization);
    // Leaves have no other ids; such an id would be a wrong end.
    if (!leafId.test(id)) continue;
    if (first === '' || id < first) first = id;
    if (id > last) last = id;
  }
  if (first === '') throw new CannotCheck('The export has no event.');
  const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');
  return { first: bytesOf(first), last: bytesOf(last) };
}

/** When the event at an end was accepted, in ISO 8601. */
export function timeOfEnd(id: Buffer): string {
  return new Date(id.readUIntBE(0, 6)).toISOString();
}

/**
 * Keeps the leaves to compare with an export, and counts the others: a log may have more leaves
 * than fit in memory.
 */
export class LeavesBetween {
  readonly ofEvents: Buffer[] = [];
  readonly ofErasures: Buffer[] = [];
  readonly ofActs: Buffer[] = [];
  /** Leaves of events that the export must have, and where they are in the log. */
  readonly #required: { leaf: Buffer; index: number }[] = [];
  /** Where the acts are in the log, by id. */
  readonly #places = new Map<string, number>();
  /** Leaves of other events. */
  beyond = 0;
  /** When the newest event of the log was accepted, in ms since the Unix epoch. */
  newest = 0;
  readonly #ends: Ends | undefined;
  readonly #range: ExportedRange | undefined;
  #index = 0;

  /**
   * Without an export, it keeps no leaves of events. Without a range, an export must have the
   * events between its ends.
   */
  constructor(ends: Ends | undefined, range: ExportedRange | undefined) {
    this.#ends = ends;
    this.#range = range;
  }

  /** Passes all leaves on. */
  async *pass(leaves: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const several of leaves) {
      for (const leaf of splitLeaves(several)) {
        if (isLeaf(leaf)) this.#take(leaf);
        this.#index += 1;
      }
      yield several;
    }
  }

  /**
   * The leaves of events that the export must have. One that was made after retention had dropped
   * its day, as `acts` say, has only the events that came later.
   */
  requiredAfter(acts: readonly Act[]): Buffer[] {
    const range = this.#range;
    const drops = acts
      .filter(
        ({ kind, details }) =>
          kind === 'events-expired' && Date.parse(details['before'] ?? '') > (range?.from ?? Infinity),
      )
      .map(({ id }) => this.#places.get(id) ?? Infinity)
      .filter((index) => index < (range?.covered ?? 0));
    const after = Math.max(-1, ...drops);
    return this.#required.filter(({ index }) => index > after).map(({ leaf }) => leaf);
  }

  #take(leaf: Buffer): void {
    if (isAct(leaf)) this.#places.set(readLeaf(leaf).id, this.#index);
    if (!isEvent(leaf)) {
      // Copied, since the leaf would otherwise keep its whole tile in memory.
      (isErasure(leaf) ? this.ofErasures : this.ofActs).push(Buffer.from(leaf));
      return;
    }
    this.newest = Math.max(this.newest, timeOfLeaf(leaf));
    const isRequired = this.#isRequired(leaf);
    if (isRequired) this.#required.push({ leaf, index: this.#index });
    if (isRequired || (this.#ends !== undefined && isBetween(leaf, this.#ends))) this.ofEvents.push(leaf);
    else this.beyond += 1;
  }

  #isRequired(leaf: Buffer): boolean {
    if (this.#ends === undefined) return false;
    if (this.#range === undefined) return isBetween(leaf, this.#ends);
    const { from, to, covered } = this.#range;
    const time = timeOfLeaf(leaf);
    return this.#index < covered && time >= from && time < to;
  }
}

function isBetween(leaf: Buffer, { first, last }: Ends): boolean {
  return leaf.compare(first, 0, first.length, 1, 17) >= 0 && leaf.compare(last, 0, last.length, 1, 17) <= 0;
}
