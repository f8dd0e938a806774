import type { DeclaredExpectation } from '../../expectation/automation.ts';
import { evaluate } from '../../expectation/evaluate.ts';
import { expectationOf } from '../../expectation/read-expectation.ts';
import { Schedules } from '../../expectation/schedules.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { count } from '../parts/format.ts';
import { verdictMark } from '../parts/verdicts.ts';
import type { Console, Visit } from '../visit.ts';

/** How far back it looks, and how many executions it reads and findings it lists at most. */
const [dayMs, days, mostRuns, listed] = [86_400_000, 30, 1_000, 20];

/** The alerts that expectations would have raised for the executions of the last 30 days. */
export async function replay(
  automationId: string,
  expect: DeclaredExpectation | undefined,
  { organization, now, zone }: Visit,
  { record }: Console,
): Promise<Html> {
  const from = now - days * dayMs;
  const filters = { automationId, from: new Date(from) };
  const { items } = await record.listExecutions(organization, filters, { limit: mostRuns });
  const [first] = items.slice(-1);
  if (first === undefined) return html`<p class="quiet">It has not run in the last 30 days.</p>`;
  const at = (time: string | null): number | undefined => (time === null ? undefined : Date.parse(time));
  const runs = items.map((run) => ({
    executionId: run.execution_id,
    startedAt: Date.parse(run.first_event_at),
    failedAt: at(run.failed_at),
    endedAt: at(run.ended_at),
    lastEventAt: Date.parse(run.last_event_at),
  }));
  const begin = items.length < mostRuns ? from : Date.parse(first.first_event_at);
  const declaredAt = { starts: begin, maxDuration: begin, failures: begin, lost: begin };
  const history = { declaredAt, runs, hasOlderRuns: false, gaps: [] };
  const { findings } = evaluate(expectationOf(expect), history, now, new Schedules());
  const told = findings.filter(({ kind, toldFrom = 0 }) => kind !== 'late' && toldFrom <= now);
  return html`<p>
      In the last 30 days it ran ${count(items.length, 'time')}${items.length === mostRuns && ' or more'}.
      ${told.length === 0 ? 'Nothing would have been told.' : `${count(told.length, 'alert')} would have been told:`}
    </p>
    <ul class="list verdicts">
      ${told.slice(-listed).map(({ kind, reason }) => html`<li>${verdictMark(kind)} <span>${zone.sentence(reason)}</span></li>`)}
    </ul>`;
}
