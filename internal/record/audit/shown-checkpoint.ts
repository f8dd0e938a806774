import { openCheckpoint, type TreeHead } from '../../ledger/checkpoint.ts';
import { originOf, type VerifierKey } from '../../ledger/keys.ts';
import { UnknownSigner, WrongSignature } from '../../ledger/note.ts';
import { CannotCheck, type Finding } from './finding.ts';

/**
 * Opens a checkpoint of a console, a folder or a proof. Returns its head, or the finding that it
 * was changed.
 * @throws {CannotCheck} when none of the keys has signed it, or it is no checkpoint of this log.
 */
export function openShown(
  checkpoint: string,
  { organization, keys }: { organization: string; keys: readonly VerifierKey[] },
): { head: TreeHead } | { finding: Finding } {
  try {
    return { head: openCheckpoint(checkpoint, organization, keys) };
  } catch (error) {
    if (error instanceof WrongSignature) return { finding: changedCheckpoint(error) };
    if (error instanceof UnknownSigner) throw strange(checkpoint, organization, keys);
    throw new CannotCheck(`This is no checkpoint of the log of ${organization}.`, { cause: error });
  }
}

/** The error for a checkpoint that no known key signed: it may be of another log. */
function strange(checkpoint: string, organization: string, keys: readonly VerifierKey[]): CannotCheck {
  const [origin = ''] = checkpoint.split('\n');
  const own = keys.map(({ name }) => originOf(name, organization));
  if (own.includes(origin)) return unknownSigner(`the checkpoint of ${organization}`);
  return new CannotCheck(`The checkpoint is of the log ${origin}, not of ${own.join()}: another organization or key.`);
}

/** The finding about a checkpoint or cosignature that its alleged signer did not sign. */
export function changedCheckpoint(error: unknown): Finding {
  const fault = error instanceof Error ? error.message : String(error);
  return { sentence: `A checkpoint was changed after it was signed: ${fault}.` };
}

/** The error for a checkpoint that none of the given keys signed. */
export function unknownSigner(which: string): CannotCheck {
  return new CannotCheck(`No --public-key has signed ${which}: add the key that signed it.`);
}
