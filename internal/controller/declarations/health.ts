import type { Verdict, VerdictKind } from '../../expectation/verdict.ts';
import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { ExecutionState } from '../../event/outcome/execution-state.ts';
import type { DeclaredAutomation } from './declarations.ts';
import type { Condition, LastExecution } from './manifest.ts';

/** The condition `Healthy`, without the fields that each condition has. */
export type Health = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Identifies an automation of any organization. */
export type AutomationIdentity = Pick<DeclaredAutomation, 'organization' | 'automationId'>;

export function identityOf({ organization, automationId }: AutomationIdentity): string {
  return `${organization}/${automationId}`;
}

interface VerdictRow {
  organization: string;
  automation_id: string;
  verdict: Verdict[] | null;
  suspend: boolean;
  expects: boolean;
}

/** Returns the health of declared automations by identity, from their last verdicts. */
export async function readHealth(
  db: Database,
  automations: readonly AutomationIdentity[],
): Promise<Map<string, Health>> {
  if (automations.length === 0) return new Map();
  const { rows } = await sql<VerdictRow>`
    select organization, automation_id, verdict, suspend, expect is not null as expects
    from ${unnested(automations)} as wanted (organization, automation_id)
    join automations using (organization, automation_id)
  `.execute(db);
  return new Map(
    rows.map((row) => [identityOf({ organization: row.organization, automationId: row.automation_id }), healthOf(row)]),
  );
}

/** Worst first. An automation takes the reason of its worst verdict. */
const severities: readonly (readonly [VerdictKind, string])[] = [
  ['missing', 'Missing'],
  ['failing', 'Failing'],
  ['overrunning', 'Overrunning'],
  ['lost', 'Lost'],
  ['late', 'Late'],
  ['unknown', 'Unknown'],
];

function healthOf({ verdict, suspend, expects }: VerdictRow): Health {
  if (suspend) return { status: 'Unknown', reason: 'Suspended', message: 'the automation is suspended' };
  if (!expects) return { status: 'Unknown', reason: 'NoExpectations', message: 'nothing is expected of it' };
  if (verdict === null) return notEvaluated;
  const worst = severities.find(([kind]) => verdict.some((one) => one.kind === kind));
  if (worst === undefined) return { status: 'True', reason: 'ExpectationsMet', message: 'every expectation is met' };
  const [kind, reason] = worst;
  const message = verdict.map((one) => one.reason).join(' ');
  return { status: kind === 'unknown' ? 'Unknown' : 'False', reason, message: message.slice(0, 4_000) };
}

export const notEvaluated: Health = {
  status: 'Unknown',
  reason: 'NotEvaluated',
  message: 'the expectations are not evaluated yet',
};

interface ExecutionRow {
  organization: string;
  automation_id: string;
  execution_id: string;
  state: ExecutionState;
  first_event_at: Date;
}

/** Returns the last execution of each automation that has one, by identity. */
export async function readLastExecutions(
  db: Database,
  automations: readonly AutomationIdentity[],
): Promise<Map<string, LastExecution>> {
  if (automations.length === 0) return new Map();
  const { rows } = await sql<ExecutionRow>`
    select wanted.organization, wanted.automation_id, newest.*
    from ${unnested(automations)} as wanted (organization, automation_id)
    cross join lateral (
      select execution_id, state, first_event_at from executions
      where executions.organization = wanted.organization and executions.automation_id = wanted.automation_id
      order by first_event_at desc limit 1
    ) as newest
  `.execute(db);
  return new Map(
    rows.map(({ organization, automation_id: automationId, execution_id: executionId, state, first_event_at }) => [
      identityOf({ organization, automationId }),
      // Kubernetes keeps whole seconds.
      { executionId, state, startedAt: first_event_at.toISOString().replace(/\.\d+/, '') },
    ]),
  );
}

/** The identities as rows for a statement. */
function unnested(automations: readonly AutomationIdentity[]) {
  return sql`unnest(
    ${automations.map(({ organization }) => organization)}::text[],
    ${automations.map(({ automationId }) => automationId)}::uuid[]
  )`;
}
