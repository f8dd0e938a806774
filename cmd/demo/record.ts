import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionState } from '../../internal/event/outcome/execution-state.ts';
import type { DemoAutomation } from './fleet.ts';
import { DemoError, reach } from './reach.ts';

/** The outcomes of one automation: its executions by state, and their events of every kind. */
export interface Outcomes extends Record<ExecutionState, number> {
  automation: string;
  events: number;
}

/** A page of `GET /v1/executions/`, as far as the demo needs it. */
interface Page {
  items: { state: ExecutionState; counts: Record<string, number> }[];
  next_cursor: string | null;
}

/** Counts the outcomes of the fleet from what the console shows. Reads every page. */
export async function readOutcomes(
  console: string,
  token: string,
  fleet: readonly DemoAutomation[],
): Promise<Outcomes[]> {
  const outcomes: Outcomes[] = [];
  for (const { id } of fleet) {
    const found: Outcomes = { automation: id, running: 0, succeeded: 0, failed: 0, events: 0 };
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ automation_id: id, limit: '500', ...(cursor !== null && { cursor }) });
      const { items, next_cursor }: Page = await readPage(`${console}/v1/executions/?${query.toString()}`, token);
      for (const { state, counts } of items) {
        found[state] += 1;
        for (const count of Object.values(counts)) found.events += count;
      }
      cursor = next_cursor;
    } while (cursor !== null);
    outcomes.push(found);
  }
  return outcomes;
}

/** Reads a page. Repeats the request after `Retry-After` if the console asks for that. */
async function readPage(url: string, token: string): Promise<Page> {
  for (;;) {
    const answer = await reach(url, { headers: { token } });
    if (answer.status === 200) return (await answer.json()) as Page;
    const body = await answer.text();
    if (answer.status !== 429 && answer.status !== 503) {
      throw new DemoError(`the console answered ${answer.status}: ${body}`);
    }
    await sleep(Number(answer.headers.get('Retry-After') ?? 1) * 1_000);
  }
}

/** A verdict of an automation, as far as the demo shows it. */
export interface DeclaredVerdict {
  kind: string;
  reason: string;
}

/** The verdicts of an automation; undefined until it is declared and evaluated. */
export async function readVerdicts(console: string, token: string, id: string): Promise<DeclaredVerdict[] | undefined> {
  const answer = await reach(`${console}/v1/automations/${id}/`, { headers: { token } });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    return undefined;
  }
  const { declaration } = (await answer.json()) as { declaration: { verdicts: DeclaredVerdict[] | null } | null };
  return declaration?.verdicts ?? undefined;
}
