import type { Erasure } from '../log/erasure.ts';
import { readErasure } from '../log/erasure-text.ts';
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
 * The erasures of these records whose leaves are in the log. With an export, each leaf of an
 * erasure needs its record.
 * @throws {CannotCheck} when an export was given, and no records.
 */
export async function givenErasures(
  records: readonly Erasure[] | undefined,
  leaves: LeavesById,
  isExported: boolean,
): Promise<Erased> {
  if (isExported && records === undefined && leaves.size > 0) {
    throw new CannotCheck(`The log has ${leaves.size} erasures: give what \`erase\` printed with --erasures.`);
  }
  const erased = new Erased();
  for (const record of records ?? []) await erased.add(record, async (id) => leaves.get(id)?.[0]);
  if (isExported) erased.findings.push(...[...leaves.keys()].flatMap((id) => erased.lost(id)));
  return erased;
}
