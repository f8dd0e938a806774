import { readFile } from 'node:fs/promises';
import { exportedEvent } from './exported-event.ts';
import { CannotCheck } from './finding.ts';
import { readRecords } from './given-erasures.ts';
import { openShown } from './shown-checkpoint.ts';
import { holdsId, type Erasure } from '../../ledger/erasure.ts';
import { hashLeaf } from '../../ledger/hashing.ts';
import { leafOf, readLeaf } from '../../ledger/leaf.ts';
import { readProof, type LogProof } from '../../ledger/proof-text.ts';
import { rootOfInclusion } from '../../ledger/proofs.ts';
import type { StoredEvent } from '../../ledger/stored-json.ts';
import { linesOf, linesOfAll } from './exported-lines.ts';
import type { VerifierKey } from '../../ledger/keys.ts';
import type { Outcome } from './exit-code.ts';

/** What to check a proof against. */
export interface ProofOptions {
  readonly organization: string;
  readonly publicKeys: readonly VerifierKey[];
  /** The file of an export that should have the event. */
  readonly export: string | undefined;
  /** Files with what `erase` printed. */
  readonly erasures: readonly string[];
}

/**
 * Checks the proof of one event, and the event in an export. Also resolves with the proof's
 * checkpoint.
 */
export async function checkProof(file: string, options: ProofOptions): Promise<Outcome & { checkpoint: string }> {
  const { leaf, index, hashes, checkpoint } = await readProofOf(file);
  const shown = openShown(checkpoint, { organization: options.organization, keys: options.publicKeys });
  if ('finding' in shown) return { ...found(shown.finding.sentence), checkpoint };
  const { size, root } = shown.head;
  const { id } = readLeaf(leaf);
  const reached = rootOfInclusion({ index, size }, hashLeaf(leaf), hashes);
  if (reached?.equals(root) !== true) {
    const sentence = `Event ${id} is not in the log of the checkpoint: the proof leads to another root.`;
    return { ...found(sentence), checkpoint };
  }
  const sealed = `event ${id} is leaf ${index} of the ${size} that the checkpoint signed`;
  if (options.export === undefined) return { ...holds(`${sealed}.`), checkpoint };
  return { ...(await compareWith(options.export, { id, leaf, sealed }, options)), checkpoint };
}

async function readProofOf(file: string): Promise<LogProof> {
  const text = await readFile(file, 'utf8');
  try {
    return readProof(text);
  } catch {
    throw new CannotCheck(`${file} is no proof of a log.`);
  }
}

/** An erasure's record excuses a difference and proves nothing, since a proof lacks its leaf. */
async function compareWith(
  exported: string,
  { id, leaf, sealed }: { id: string; leaf: Buffer; sealed: string },
  { organization, erasures }: ProofOptions,
): Promise<Outcome> {
  const records = erasures.length === 0 ? undefined : await readRecords(linesOfAll(erasures));
  const own = (records ?? []).filter((one) => one.organization === organization && holdsId(one.event_ids, id));
  const event = await findExported(exported, id, organization);
  if (event === undefined) {
    const erasure = own.find(({ scope }) => scope !== 'text');
    const why = erasure === undefined ? '' : `: ${describeErasure(erasure, 'it')}`;
    return holds(`${sealed}.`, `${exported} does not have event ${id}${why}.`);
  }
  if (leafOf(event).equals(leaf)) return holds(`${sealed}, and ${exported} has it unchanged.`);
  const erasure = own.find(({ scope }) => scope === 'text');
  if (erasure === undefined) {
    const hint = records === undefined ? ' If `erase` removed its texts, add --erasures.' : '';
    return found(`Event ${id} is not the one of the proof: it was changed.${hint}`);
  }
  return holds(
    `${sealed}.`,
    `${exported} has another version of event ${id}: ${describeErasure(erasure, 'its texts')}.`,
    'To check this version and the erasure, use --log in place of --proof.',
  );
}

function holds(checked: string, ...problems: string[]): Outcome {
  return { findings: [], problems, checked, notes: [] };
}

function found(sentence: string): Outcome {
  return { findings: [sentence], problems: [], checked: '', notes: [] };
}

function describeErasure({ erased_by: by, erased_at: at, reason }: Erasure, what: string): string {
  return `${by} erased ${what} at ${at.toISOString()}: ${reason}`;
}

async function findExported(file: string, id: string, organization: string): Promise<StoredEvent | undefined> {
  for await (const line of linesOf(file)) {
    if (!line.includes(id)) continue;
    const event = exportedEvent(line, organization);
    if (event.id === id) return event;
  }
  return undefined;
}
