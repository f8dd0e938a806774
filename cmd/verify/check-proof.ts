import { readFile } from 'node:fs/promises';
import { exportedEvent } from '../../internal/audit/exported-event.ts';
import { CannotCheck, type Finding } from '../../internal/audit/finding.ts';
import { openCheckpoint } from '../../internal/log/checkpoint.ts';
import { hashLeaf } from '../../internal/log/hashing.ts';
import type { VerifierKey } from '../../internal/log/keys.ts';
import { leafOf, readLeaf } from '../../internal/log/leaf.ts';
import { readProof } from '../../internal/log/proof-text.ts';
import { rootOfInclusion } from '../../internal/log/proofs.ts';
import type { StoredEvent } from '../../internal/log/stored-json.ts';
import { linesOf } from './exported-lines.ts';

/** Checks the proof of one event, and what an export says of it. */
export async function checkProof(
  file: string,
  {
    organization,
    keys,
    exported,
  }: { organization: string; keys: readonly VerifierKey[]; exported: string | undefined },
): Promise<{ sentence: string; finding?: Finding }> {
  const { leaf, index, hashes, checkpoint } = readProof(await readFile(file, 'utf8'));
  const { size, root } = openCheckpoint(checkpoint, organization, keys);
  const { id } = readLeaf(leaf);
  const reached = rootOfInclusion({ index, size }, hashLeaf(leaf), hashes);
  if (reached?.equals(root) !== true) {
    return wrong(`Event ${id} is not in the log of the checkpoint: the proof leads to another root.`);
  }
  const sealed = `Event ${id} is leaf ${index} of the ${size} that the checkpoint signed`;
  if (exported === undefined) return { sentence: `${sealed}.` };
  const event = await findExported(exported, id, organization);
  if (event === undefined) throw new CannotCheck(`${sealed}, and ${exported} does not have it.`);
  if (!leafOf(event).equals(leaf)) {
    return wrong(`Event ${id} is not the one that the log has: it was changed.`);
  }
  return { sentence: `${sealed}, and ${exported} has it unchanged.` };
}

async function findExported(file: string, id: string, organization: string): Promise<StoredEvent | undefined> {
  for await (const line of linesOf(file)) {
    if (!line.includes(id)) continue;
    const event = exportedEvent(line, organization);
    if (event.id === id) return event;
  }
  return undefined;
}

function wrong(sentence: string): { sentence: string; finding: Finding } {
  return { sentence, finding: { sentence } };
}
