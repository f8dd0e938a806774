import { CannotCheck } from '../../internal/audit/finding.ts';
import { findCosignature } from '../../internal/log/cosignature.ts';
import { readWitnessKey } from '../../internal/log/keys.ts';
import { splitNote } from '../../internal/log/note.ts';

/**
 * Says when each of these witnesses has cosigned a checkpoint.
 * @throws when a cosignature is wrong, {@link CannotCheck} when there is none.
 */
export function checkWitnesses(checkpoint: string, publicKeys: readonly string[]): string[] {
  const { lines } = splitNote(checkpoint);
  return publicKeys.map((text) => {
    const key = readWitnessKey(text);
    const cosignature = findCosignature(checkpoint, lines, key);
    if (cosignature === undefined) throw new CannotCheck(`The witness ${key.name} has not cosigned the checkpoint.`);
    return `The witness ${key.name} cosigned the checkpoint at ${new Date(cosignature.time * 1_000).toISOString()}.`;
  });
}
