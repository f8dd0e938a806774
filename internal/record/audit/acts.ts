import { leafOfAct, readAct, type Act } from '../../ledger/act.ts';
import { timeOfId } from '../../ledger/leaf.ts';
import type { Finding } from './finding.ts';

/**
 * The acts that the log has. A text outside the log explains nothing: anybody could have written
 * it.
 */
export class Acts {
  readonly findings: Finding[] = [];
  /** Acts whose text matches the log. */
  readonly proven: Act[] = [];
  readonly #ids = new Set<string>();

  /** Takes the text of an act, and its leaf in the log, if there is one. */
  add(id: string, text: string, leaf: Buffer | undefined): void {
    this.#ids.add(id);
    if (leaf === undefined) this.#find(`The act ${id} is not in the log: it was added.`);
    else if (!leaf.equals(leafOfAct(id, text))) this.#find(`The act ${id} is not the one that the log has.`);
    else this.#read(id, text);
  }

  /** The finding about the leaf of an act whose text is missing. */
  lost(id: string): Finding[] {
    return this.#ids.has(id) ? [] : [{ sentence: `The act ${id} is in the log, and its text is missing.` }];
  }

  #read(id: string, text: string): void {
    try {
      const act = readAct(text);
      if (act.id === id && timeOfId(id) === act.at.getTime()) this.proven.push(act);
      else this.#find(`The act ${id} has another id or time in its text.`);
    } catch {
      this.#find(`The act ${id} cannot be read.`);
    }
  }

  #find(sentence: string): void {
    this.findings.push({ sentence });
  }
}

/**
 * The acts of a log as reports describe them: what affects the proof, and how many there are of
 * each kind.
 */
export function describeActs(acts: readonly Act[]): string[] {
  const kinds = Map.groupBy(acts, ({ kind }) => kind);
  const counts = Array.from(kinds, ([kind, own]) => `${own.length.toLocaleString('en')} ${kind}`).sort();
  return [
    ...acts.map(describeAct).filter((act) => act !== undefined),
    ...(counts.length === 0 ? [] : [`acts: ${counts.join(', ')}`]),
  ];
}

function describeAct({ kind, at, by, details }: Act): string | undefined {
  const when = `by ${by}, ${at.toISOString()}`;
  if (kind === 'older-events-sealed') {
    const why = details['reason'] === undefined ? '' : `: ${details['reason']}`;
    return `${details['events']} older events got their leaves, which prove them from then on, ${when}${why}`;
  }
  return kind === 'retention-approved' ? `events before ${details['before']} were let go, ${when}` : undefined;
}

/**
 * The time (ms) before which retention dropped events, according to acts; -Infinity if it never
 * did.
 */
export function expiredBefore(acts: readonly Act[]): number {
  return acts
    .filter(({ kind }) => kind === 'events-expired')
    .reduce((latest, { details }) => Math.max(latest, Date.parse(details['before'] ?? '')), -Infinity);
}
