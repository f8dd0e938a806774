import { readAct } from '../../ledger/act.ts';
import { readLeaf } from '../../ledger/leaf.ts';
import { Acts } from './acts.ts';
import { toleranceMs } from './check-tree.ts';
import type { LeavesBetween } from './leaves-between.ts';
import type { Parts } from './parts.ts';

/**
 * The acts that a console or a folder serves, compared with their leaves; undefined if it serves
 * none. Acts of the last hour may have no place in the log yet: nothing proves them.
 */
export async function servedActs(
  read: (path: string) => Promise<Buffer>,
  { ofActs, newest }: Pick<LeavesBetween, 'ofActs' | 'newest'>,
  parts: Parts,
): Promise<Acts | undefined> {
  const shown = await read('acts').then(
    (bytes) => bytes.toString(),
    () => undefined,
  );
  if (shown === undefined) return undefined;
  const leaves = new Map(ofActs.map((leaf) => [readLeaf(leaf).id, leaf]));
  const acts = new Acts();
  for (const line of shown.split('\n').filter((one) => one !== '')) {
    const act = readLine(line);
    if (act === undefined) acts.findings.push({ sentence: `An act cannot be read: ${line.slice(0, 60)}` });
    else if (leaves.has(act.id) || act.at.getTime() < newest - toleranceMs) acts.add(act.id, line, leaves.get(act.id));
    else parts.add(`The act ${act.id} is not in the log yet, so nothing proves it: check again in a minute.`);
  }
  for (const id of leaves.keys()) acts.findings.push(...acts.lost(id));
  return acts;
}

function readLine(line: string): ReturnType<typeof readAct> | undefined {
  try {
    return readAct(line);
  } catch {
    return undefined;
  }
}
