import type { AutomationLink, DeclaredExpectation } from '../expectation/automation.ts';
import type { Rules } from '../expectation/rules.ts';
import type { Verdict } from '../expectation/verdict.ts';
import type { AutomationsTable } from '../store/tables/automations-table.ts';
import type { Database } from '../store/database.ts';
import { sql, type Selectable } from '../store/sql.ts';
import { when } from './conditions.ts';
import { readAs } from './read-as.ts';

/** What people declared about an automation, and the verdicts that hold. */
export interface Declaration {
  automation: string;
  namespace: string;
  name: string;
  display_name: string;
  owner: string;
  tags: string[];
  links: AutomationLink[];
  /** Null without expectations. */
  expect: DeclaredExpectation | null;
  /** Labels of its alerts in Alertmanager, which choose who is told. */
  alert_labels: Record<string, string>;
  suspend: boolean;
  /** Starts are expected from this time on; without such a rule, when the declaration changed. */
  declared_at: string;
  /** One sentence for its owner if a part of the declaration could not be applied as declared. */
  note: string | null;
  /** False: nobody declared it, and the defaults of the organization apply. */
  declared: boolean;
  /** All events up to this time were considered; null before the first verdict. */
  evaluated_at: string | null;
  /** Empty when every expectation is met; null before the first verdict, and while suspended. */
  verdicts: Verdict[] | null;
}

/** Most declarations read: those with the smallest ids. */
const most = 10_000;

/** The declarations of an organization, all or some, in the order of the automations' ids. */
export function listDeclarations(db: Database, organization: string, only?: readonly string[]): Promise<Declaration[]> {
  const chosen = when(only, (ids) => sql`and automation_id = any(${Array.from(ids)}::uuid[])`);
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Selectable<AutomationsTable>>`
      select * from automations where organization = ${organization} ${sql.join(chosen, sql` `)}
      order by automation_id limit ${sql.lit(most)}
    `.execute(trx);
    return rows.map(declarationOf);
  });
}

function declarationOf(row: Selectable<AutomationsTable>): Declaration {
  return {
    automation: row.automation_id,
    namespace: row.namespace,
    name: row.name,
    display_name: row.display_name,
    owner: row.owner,
    tags: row.tags,
    links: row.links as AutomationLink[],
    expect: row.expect as DeclaredExpectation | null,
    alert_labels: row.alert_labels as Declaration['alert_labels'],
    suspend: row.suspend,
    declared_at: new Date((row.rules as Rules).starts?.since ?? row.declared_at).toISOString(),
    note: row.note,
    declared: row.declared,
    evaluated_at: row.evaluated_at?.toISOString() ?? null,
    verdicts: row.suspend ? null : (row.verdict as Verdict[] | null),
  };
}
