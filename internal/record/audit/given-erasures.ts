import { type Erasure, readErasure } from '../../ledger/erasure.ts';
import type { LeavesById } from './compare-events.ts';
import { Erased } from './erased.ts';
import { CannotCheck } from './finding.ts';

/** Reads lines that `erase` printed. @throws {CannotCheck} for any other line. */
export async function readRecords(lines: AsyncIterable<string>): Promise<Erasure[]> {
  const records: Erasure[] = [];
  for await (const line of lines) {
    if (line !== '') records.push(readRecord(line));
  }
  return records;
}

function readRecord(line: string): Erasure {
  try {
    return readErasure(line);
  } catch (error) {
    throw new CannotCheck(`A line is no record of an erasure: ${line.slice(0, 60)}`, { cause: error });
  }
}

/**
 * The erasures among these records whose leaves are in the log. With an export, each erasure's leaf
 * needs its record: without it, nobody can tell an erased event from a removed one.
 */
export async function givenErasures(
  records: readonly Erasure[] | undefined,
  leaves: LeavesById,
  isExported: boolean,
): Promise<Erased> {
  const given = new Set(records?.map(({ id }) => id));
  const missing = [...leaves.keys()].filter((id) => !given.has(id)).length;
  const lack = records === undefined ? '' : `, and --erasures lacks ${missing} of them`;
  const all = 'give all that `erase --list` prints with --erasures';
  const incomplete = `The log has ${leaves.size} erasures${lack}: ${all}.`;
  const erased = new Erased(isExported && missing > 0 ? incomplete : undefined);
  for (const record of records ?? []) await erased.add(record, async (id) => leaves.get(id)?.[0]);
  return erased;
}
