import { changedCheckpoint } from './shown-checkpoint.ts';
import type { VerifierKey } from '../../ledger/keys.ts';
import { findCosignature, splitNote } from '../../ledger/note.ts';
import type { Outcome } from './exit-code.ts';

/** What must hold of the cosignatures of a checkpoint. */
export interface WitnessPolicy {
  readonly witnesses: readonly VerifierKey[];
  /** How many of the witnesses must have cosigned. */
  readonly quorum: number;
  /** How old the newest cosignature of the quorum may be, in ms. */
  readonly maxAgeMs: number | undefined;
}

/**
 * Reports when each of these witnesses cosigned a checkpoint. A published checkpoint has the lines
 * of its quorum, so a missing or wrong one is a finding. An old one may belong to an older state of
 * the log.
 */
export function checkWitnesses(
  checkpoint: string,
  { witnesses, quorum, maxAgeMs }: WitnessPolicy,
): Pick<Outcome, 'findings' | 'problems' | 'notes'> {
  const [findings, problems, notes]: [string[], string[], string[]] = [[], [], []];
  const missing: string[] = [];
  const times: number[] = [];
  for (const witness of witnesses) {
    try {
      const cosignature = findCosignature(checkpoint, splitNote(checkpoint).lines, witness);
      if (cosignature === undefined) missing.push(witness.name);
      else {
        times.push(cosignature.time * 1_000);
        const time = new Date(cosignature.time * 1_000).toISOString();
        notes.push(`The witness ${witness.name} cosigned the checkpoint at ${time}.`);
      }
    } catch (error) {
      findings.push(changedCheckpoint(error).sentence);
    }
  }
  if (findings.length === 0 && times.length < quorum) {
    findings.push(...missing.map((name) => `The witness ${name} has not cosigned the checkpoint.`));
  } else notes.push(...missing.map((name) => `The witness ${name} has not cosigned the checkpoint; others suffice.`));
  const newest = times.toSorted((a, b) => b - a)[quorum - 1];
  if (maxAgeMs !== undefined && newest !== undefined && newest < Date.now() - maxAgeMs) {
    problems.push(
      `The cosignatures are older than --max-age allows, since ${new Date(newest).toISOString()}: ` +
        'this may be an older state of the log.',
    );
  }
  return { findings, problems, notes };
}
