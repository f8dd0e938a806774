import { readFile } from 'node:fs/promises';
import { exportedEvent } from '../../internal/audit/exported-event.ts';
import { CannotCheck } from '../../internal/audit/finding.ts';
import { openShown } from '../../internal/audit/shown-checkpoint.ts';
import { hashLeaf } from '../../internal/log/hashing.ts';
import { leafOf, readLeaf } from '../../internal/log/leaf.ts';
import { readProof } from '../../internal/log/proof-text.ts';
import { rootOfInclusion } from '../../internal/log/proofs.ts';
import type { StoredEvent } from '../../internal/log/stored-json.ts';
import { linesOf } from './exported-lines.ts';
import type { Options } from './options.ts';
import type { Verdict } from './verdict.ts';

/**
 * Checks the proof of one event, and what an export says of it. Resolves also with the checkpoint
 * of the proof.
 */
export async function checkProof(
  file: string,
  { organization, publicKeys: keys, export: exported }: Pick<Options, 'organization' | 'publicKeys' | 'export'>,
): Promise<Verdict & { checkpoint: string }> {
  const { leaf, index, hashes, checkpoint } = readProof(await readFile(file, 'utf8'));
  const say = (code: Verdict['code'], sentence: string) => ({ sentences: [sentence], code, checkpoint });
  const shown = openShown(checkpoint, { organization, keys });
  if ('finding' in shown) return say(1, shown.finding.sentence);
  const { size, root } = shown.head;
  const { id } = readLeaf(leaf);
  const reached = rootOfInclusion({ index, size }, hashLeaf(leaf), hashes);
  if (reached?.equals(root) !== true) {
    return say(1, `Event ${id} is not in the log of the checkpoint: the proof leads to another root.`);
  }
  const sealed = `Event ${id} is leaf ${index} of the ${size} that the checkpoint signed`;
  if (exported === undefined) return say(0, `${sealed}.`);
  const event = await findExported(exported, id, organization);
  if (event === undefined) throw new CannotCheck(`${sealed}, and ${exported} does not have it.`);
  return leafOf(event).equals(leaf)
    ? say(0, `${sealed}, and ${exported} has it unchanged.`)
    : say(1, `Event ${id} is not the one that the log has: it was changed.`);
}

async function findExported(file: string, id: string, organization: string): Promise<StoredEvent | undefined> {
  for await (const line of linesOf(file)) {
    if (!line.includes(id)) continue;
    const event = exportedEvent(line, organization);
    if (event.id === id) return event;
  }
  return undefined;
}
