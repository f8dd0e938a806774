import { isLineOfCut } from '../../event/stored-text.ts';
import type { Alert } from '../../expectation/transition.ts';
import type { Database, Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';

/** The run that an alert is about, and its first error. */
export interface AlertRun {
  executionId: string;
  /** Undefined if it has no ERROR. */
  error: { id: string; firstLine: string; firstLines: string } | undefined;
}

/** Maximum length of an error's first line, in characters, and number of its first lines. */
const longestLine = 300;
const mostLines = 5;

/** Finds the runs that alerts are about, by the id of the alert. */
export async function runsOfAlerts(
  db: Database | Transaction<Tables>,
  alerts: readonly Pick<Alert, 'id' | 'organization' | 'automationId' | 'facts'>[],
): Promise<Map<string, AlertRun>> {
  const about = alerts.flatMap(({ facts, ...alert }) => {
    const executionId = facts['execution'];
    return typeof executionId === 'string' ? [{ ...alert, executionId }] : [];
  });
  if (about.length === 0) return new Map();
  const isError = sql`e.kind = 'ERROR' and
    (e.organization, e.automation_id, e.execution_id) = (a.organization, a.automation_id, a.execution_id)`;
  const { rows } = await sql<{ id: string; error_id: string; error_description: string }>`
    select a.id, e.error_id, left(e.error_description, 4 * ${sql.lit(longestLine)}) as error_description
    from unnest(
      ${about.map(({ id }) => id)}::uuid[], ${about.map(({ organization }) => organization)}::text[],
      ${about.map(({ automationId }) => automationId)}::uuid[], ${about.map(({ executionId }) => executionId)}::text[]
    ) as a (id, organization, automation_id, execution_id)
      join executions x using (organization, automation_id, execution_id)
    cross join lateral (
      -- The first error by an index. One with a time of its own is looked for: there are few of them.
      (select e.error_id, e.error_description from events e where ${isError} and e.created_at = x.failed_at limit 1)
      union all
      (select e.error_id, e.error_description from events e
        where ${isError} and e.created_at > x.failed_at - interval '1 hour' order by e.created_at, e.id limit 1)
      limit 1
    ) e
    where x.failed_at is not null
  `.execute(db);
  const errors = new Map(
    rows.map((row) => {
      const [firstLine = '', ...others] = linesOf(row.error_description);
      return [row.id, { id: row.error_id, firstLine, firstLines: [firstLine, ...others].join('\n') }];
    }),
  );
  return new Map(about.map(({ id, executionId }) => [id, { executionId, error: errors.get(id) }]));
}

/** The first lines that are not blank. */
function linesOf(text: string): string[] {
  const lines = text.split(/[\n\r\u2028\u2029]/).filter((each) => each.trim() !== '' && !isLineOfCut(each));
  return lines.slice(0, mostLines).map((line) => {
    const trimmed = line.trim();
    return trimmed.length > longestLine ? `${trimmed.slice(0, longestLine - 1).toWellFormed()}…` : trimmed;
  });
}
