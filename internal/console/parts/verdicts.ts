import type { VerdictKind } from '../../expectation/verdict.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Declaration } from '../../record/declaration.ts';
import { icon, type IconName } from './marks.ts';

interface Mark {
  word: string;
  icon: IconName;
  /** A colour class. */
  tone: string;
}

const marks: Readonly<Record<VerdictKind, Mark>> = {
  missing: { word: 'Missing', icon: 'missing', tone: 'failed' },
  overrunning: { word: 'Overrunning', icon: 'overrunning', tone: 'failed' },
  failing: { word: 'Failing', icon: 'failed', tone: 'failed' },
  lost: { word: 'Lost', icon: 'unknown', tone: 'failed' },
  late: { word: 'Late', icon: 'overdue', tone: 'warning' },
  unknown: { word: 'Not known', icon: 'unknown', tone: 'quiet' },
};

/** A verdict: a shape, a word and a colour. */
export function verdictMark(kind: VerdictKind): Html {
  return markOf(marks[kind]);
}

/**
 * How well an automation meets its expectations, in one mark.
 * @param upTo until when that is known, while the record is behind.
 */
export function healthMark({ expect, suspend, verdicts }: Declaration, upTo?: string): Html {
  if (suspend) return html`<span class="quiet">Suspended</span>`;
  const worst = worstOf((verdicts ?? []).map(({ kind }) => kind));
  if (expect === null && worst === undefined) return html`<span class="quiet">Nothing expected</span>`;
  if (verdicts === null) return html`<span class="quiet">Not judged yet</span>`;
  if (worst === undefined && upTo !== undefined) {
    return markOf({ word: `As expected up to ${upTo}`, icon: 'unknown', tone: 'quiet' });
  }
  if (worst === undefined) return markOf({ word: 'As expected', icon: 'succeeded', tone: 'succeeded' });
  const more = verdicts.length > 1 ? html` <span class="quiet">+${verdicts.length - 1}</span>` : false;
  return html`${verdictMark(worst)}${more}`;
}

/** The name of an automation; undefined if it is neither declared nor named by its own tool. */
export function nameOf(
  declaration: Pick<Declaration, 'display_name' | 'name' | 'declared'> | undefined,
): string | undefined {
  if (declaration === undefined) return undefined;
  const { display_name, name, declared } = declaration;
  return display_name === '' && declared ? name : display_name || undefined;
}

const order: readonly VerdictKind[] = ['missing', 'overrunning', 'failing', 'lost', 'late', 'unknown'];

function worstOf(kinds: readonly VerdictKind[]): VerdictKind | undefined {
  return order.find((kind) => kinds.includes(kind));
}

function markOf({ word, icon: shape, tone }: Mark): Html {
  return html`<span class="state ${tone}">${icon(shape)}<span>${word}</span></span>`;
}
