import { timeOfLeaf } from '../../ledger/leaf.ts';
import { toleranceMs } from './check-tree.ts';
import type { Finding } from './finding.ts';
import type { ExportedRange, LeavesBetween } from './leaves-between.ts';
import type { Parts } from './parts.ts';

/** A manifest beside an export. */
export interface GivenManifest {
  readonly name: string;
  /** The events that the export should have according to it. */
  readonly range: ExportedRange;
  /** The leaf that the log must have for it; undefined if it was written without a log. */
  readonly leaf: Buffer | undefined;
}

/** Compares a manifest with its leaf. One just written may have no place in the log yet. */
export function checkManifest(
  { name, leaf }: GivenManifest,
  { ofActs, newest }: Pick<LeavesBetween, 'ofActs' | 'newest'>,
  { findings, parts }: { findings: Finding[]; parts: Parts },
): void {
  if (leaf === undefined) {
    parts.add(`${name} was written without a log, so nothing proves which events the export should have.`);
    return;
  }
  const own = ofActs.find((one) => one.compare(leaf, 1, 17, 1, 17) === 0);
  if (own?.equals(leaf) === true) return;
  if (own !== undefined) findings.push({ sentence: `${name} is not the manifest that the log has: it was changed.` });
  else if (timeOfLeaf(leaf) > newest - toleranceMs) {
    parts.add(`${name} is not in the log yet: its manifest gets a leaf once the next checkpoint is signed.`);
  } else findings.push({ sentence: `${name} is not in the log: it was added, or its id was changed.` });
}
