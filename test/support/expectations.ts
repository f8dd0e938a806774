import type { DeclaredExpectation } from '../../internal/expectation/automation.ts';
import { changedRules, type Rules } from '../../internal/expectation/rules.ts';
import { Schedules } from '../../internal/expectation/schedules.ts';
import type { Transition } from '../../internal/expectation/transition.ts';
import type { Database } from '../../internal/store/database.ts';
import { tick, type TickOptions, type TickReport } from '../../internal/controller/verdicts/tick.ts';
import type { QueueReading } from '../../internal/controller/verdicts/watermark.ts';

/** The margin of the watermark, in ms. */
export const marginMs = 10_000;

export interface Declared {
  organization: string;
  automationId: string;
  expect: DeclaredExpectation | null;
  declaredAt: number;
  suspend: boolean;
}

/** Writes declarations as `internal/controller/declarations` does, changed ones too. */
export async function declare(db: Database, ...automations: (Partial<Declared> & Pick<Declared, 'automationId'>)[]) {
  const known = await db
    .selectFrom('automations')
    .select(['organization', 'automation_id', 'suspend', 'rules'])
    .execute();
  const before = (organization: string, id: string, suspend: boolean) =>
    known.find((row) => row.organization === organization && row.automation_id === id && row.suspend === suspend)
      ?.rules;
  const rows = automations.map(
    ({ automationId, organization = 'acme', expect = null, declaredAt = 0, suspend = false }) => ({
      organization,
      automation_id: automationId,
      namespace: `${organization}-automations`,
      name: automationId,
      uid: automationId,
      generation: '1',
      display_name: 'Nightly invoices',
      owner: 'billing',
      links: '[]',
      expect: expect === null ? null : JSON.stringify(expect),
      alert_labels: '{"severity":"page"}',
      suspend,
      declared_at: new Date(declaredAt),
      rules: JSON.stringify(
        changedRules(expect, before(organization, automationId, suspend) as Rules | undefined, declaredAt),
      ),
      next_at: null,
    }),
  );
  await db
    .insertInto('automations')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['organization', 'automation_id']).doUpdateSet((excluded) => ({
        expect: excluded.ref('excluded.expect'),
        suspend: excluded.ref('excluded.suspend'),
        declared_at: excluded.ref('excluded.declared_at'),
        rules: excluded.ref('excluded.rules'),
        next_at: null,
      })),
    )
    .execute();
}

/** An empty queue at a time, and an ingest that takes events. */
export function emptyQueue(now: number): QueueReading {
  return { now, oldestAt: undefined, admittingAt: now, gaps: [] };
}

const schedules = new Schedules();

/** A tick at a moved clock, and the transitions that it recorded. */
export async function tickAt(
  db: Database,
  now: number,
  given: Partial<TickOptions> = {},
): Promise<{ report: TickReport | undefined; transitions: readonly Transition[] }> {
  const transitions: Transition[] = [];
  const report = await tick(db, {
    queue: emptyQueue(now),
    clocks: () => ({ controller: now, postgres: now }),
    schedules,
    ...given,
    listeners: [
      {
        recordTransitions: async (_trx, part) => void transitions.push(...part),
        recordTick: async () => {},
      },
      ...(given.listeners ?? []),
    ],
  });
  return { report, transitions };
}
