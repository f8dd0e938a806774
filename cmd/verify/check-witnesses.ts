import { changedCheckpoint } from '../../internal/audit/shown-checkpoint.ts';
import { findCosignature, type Cosignature } from '../../internal/log/cosignature.ts';
import type { VerifierKey } from '../../internal/log/keys.ts';
import { splitNote } from '../../internal/log/note.ts';
import type { Verdict } from './verdict.ts';

/**
 * Says when each of these witnesses has cosigned a checkpoint. It could not be checked if one of
 * them has not, and was changed if a cosignature is wrong.
 */
export function checkWitnesses(checkpoint: string, witnesses: readonly VerifierKey[]): Verdict[] {
  return witnesses.map((witness) => {
    try {
      return verdictOf(witness.name, findCosignature(checkpoint, splitNote(checkpoint).lines, witness));
    } catch (error) {
      return { sentences: [changedCheckpoint(error).sentence], code: 1 };
    }
  });
}

function verdictOf(name: string, cosignature: Cosignature | undefined): Verdict {
  if (cosignature === undefined) {
    return { sentences: [`The witness ${name} has not cosigned the checkpoint.`], code: 2 };
  }
  const time = new Date(cosignature.time * 1_000).toISOString();
  return { sentences: [`The witness ${name} cosigned the checkpoint at ${time}.`], code: 0 };
}
