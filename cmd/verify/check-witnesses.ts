import { findCosignature } from '../../internal/log/cosignature.ts';
import type { VerifierKey } from '../../internal/log/keys.ts';
import { splitNote } from '../../internal/log/note.ts';
import type { Verdict } from './verdict.ts';

/**
 * Says when each of these witnesses has cosigned a checkpoint. It could not be checked if one of
 * them has not.
 * @throws when a cosignature is wrong.
 */
export function checkWitnesses(checkpoint: string, witnesses: readonly VerifierKey[]): Verdict[] {
  const { lines } = splitNote(checkpoint);
  return witnesses.map((witness) => {
    const { name } = witness;
    const cosignature = findCosignature(checkpoint, lines, witness);
    if (cosignature === undefined) {
      return { sentences: [`The witness ${name} has not cosigned the checkpoint.`], code: 2 };
    }
    const time = new Date(cosignature.time * 1_000).toISOString();
    return { sentences: [`The witness ${name} cosigned the checkpoint at ${time}.`], code: 0 };
  });
}
