import { readFile } from 'node:fs/promises';
import { exportedEvent } from '../../internal/audit/exported-event.ts';
import { CannotCheck, type Finding } from '../../internal/audit/finding.ts';
import { openCheckpoint } from '../../internal/log/checkpoint.ts';
import { hashLeaf } from '../../internal/log/hashing.ts';
import type { VerifierKey } from '../../internal/log/keys.ts';
import { leafOf, readLeaf } from '../../internal/log/leaf.ts';
import { readProof } from '../../internal/log/proof-text.ts';
import { rootOfInclusion } from '../../internal/log/proofs.ts';

/** Checks the proof of one event, and its line of an export. */
export async function checkProof(
  file: string,
  { organization, keys, line }: { organization: string; keys: readonly VerifierKey[]; line: string | undefined },
): Promise<{ sentence: string; finding?: Finding }> {
  const { leaf, index, hashes, checkpoint } = readProof(await readFile(file, 'utf8'));
  const { size, root } = openCheckpoint(checkpoint, organization, keys);
  const { id } = readLeaf(leaf);
  const reached = rootOfInclusion({ index, size }, hashLeaf(leaf), hashes);
  if (reached?.equals(root) !== true) {
    return wrong(`Event ${id} is not in the log of the checkpoint: the proof leads to another root.`);
  }
  if (line !== undefined) {
    const event = exportedEvent(line, organization);
    if (event.id !== id) throw new CannotCheck(`The proof is of event ${id}, and the export has event ${event.id}.`);
    if (!leafOf(event).equals(leaf)) return wrong(`Event ${id} is not the one that the log has: it was changed.`);
  }
  return { sentence: `Event ${id} is leaf ${index} of the ${size} that the checkpoint signed.` };
}

function wrong(sentence: string): { sentence: string; finding: Finding } {
  return { sentence, finding: { sentence } };
}
