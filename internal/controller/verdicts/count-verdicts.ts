import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

/** Counts the current verdicts, by kind. */
export async function countVerdicts(db: Database): Promise<Map<string, number>> {
  const { rows } = await sql<{ kind: string; count: number }>`
    select each ->> 'kind' as kind, count(*)::integer as count
    from automations cross join jsonb_array_elements(verdict) as each
    group by 1
  `.execute(db);
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

/** The first automations by name, with the number of current verdicts of each. */
export async function countVerdictsOfAutomations(
  db: Database,
  most: number,
): Promise<{ organization: string; automation: string; count: number }[]> {
  const { rows } = await sql<{ organization: string; automation: string; count: number }>`
    select organization, namespace || '/' || name as automation,
      coalesce(jsonb_array_length(verdict), 0) as count
    from automations where declared or verdict <> '[]' order by organization, namespace, name limit ${most}
  `.execute(db);
  return rows;
}
