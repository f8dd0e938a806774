import type { VerdictKind } from '../expectation/verdict.ts';
import type { Execution } from '../record/execution.ts';
import type { AutomationView } from './health.ts';

/** Why an automation needs attention. */
export interface Attention {
  automation: string;
  kind: VerdictKind;
  reason: string;
  /** ISO 8601. */
  since: string;
}

/** Automations that need attention, and those whose failures their expectations allow. */
export interface Attentions {
  needed: Attention[];
  allowed: number;
}

/**
 * Finds the automations that need attention, newest first: an alert is open, the last run failed
 * and no expectation allows that, or a run is overdue.
 */
export function attentionsOf(views: readonly AutomationView[], overdue: readonly Execution[]): Attentions {
  const begins = new Map(overdue.map(({ automation, first_event_at }) => [automation, first_event_at]));
  const needed = views.flatMap((view) => attentionOf(view, begins.get(view.automation)) ?? []);
  return {
    needed: needed.sort((a, b) => b.since.localeCompare(a.since)),
    allowed: views.filter((view) => isFailing(view) && isAllowed(view)).length,
  };
}

function attentionOf(view: AutomationView, overdueSince: string | undefined): Attention | undefined {
  const { automation, declaration, health } = view;
  const verdict = declaration?.verdicts?.find(({ told }) => told);
  if (verdict !== undefined) {
    return { automation, kind: verdict.kind, reason: verdict.reason, since: verdict.since };
  }
  if (declaration?.suspend === true) return undefined;
  if (health !== undefined && isFailing(view) && !isAllowed(view)) {
    const { failuresInARow: failures, last } = health;
    const reason = failures === 1 ? 'The last run has failed.' : `The last ${failures} runs have failed.`;
    return { automation, kind: 'failing', reason, since: health.failingSince ?? last.first_event_at };
  }
  if (overdueSince === undefined) return undefined;
  return { automation, kind: 'overrunning', reason: 'A run is overdue: it has no END yet.', since: overdueSince };
}

function isFailing({ health }: AutomationView): boolean {
  return (health?.failuresInARow ?? 0) > 0;
}

/** True if the owner declared which failures matter and none does now, or suspended it. */
function isAllowed({ declaration }: AutomationView): boolean {
  if (declaration?.suspend === true) return true;
  return declaration?.expect?.failures !== undefined && declaration.verdicts !== null;
}
