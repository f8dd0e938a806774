import { rename, writeFile } from 'node:fs/promises';
import { listRunning } from '../../support/store.ts';
import { query } from '../../support/postgres-server.ts';

/** The automations of the scenario `tick`. */
export const automations = 10_000;
export const organizations = 100;
/** Runs of each before it begins. */
export const runsEach = 20;

const automationId = `(lpad(to_hex(number), 8, '0') || '-0000-4000-9000-000000000000')::uuid`;
const organization = `'org-' || number % ${organizations}`;

/** The id of an automation, from 1 to `automations`. */
export function idOf(number: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-4000-9000-000000000000`;
}

/** Writes or changes the file of declarations. `expectOf` is YAML. */
export async function declareAll(file: string, expectOf: (number: number) => string): Promise<void> {
  const namespaces = Array.from(
    { length: organizations },
    (_, index) => `
apiVersion: v1
kind: Namespace
metadata: { name: org-${index}, labels: { runledger.dev/organization: org-${index} } }
`,
  );
  const resources = Array.from({ length: automations }, (_, index) => {
    const number = index + 1;
    return `
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: automation-${number}, namespace: org-${number % organizations} }
spec:
  automationId: ${idOf(number)}
  expect: ${expectOf(number)}
`;
  });
  await writeFile(`${file}.new`, [...namespaces, ...resources].join('---'));
  await rename(`${file}.new`, file);
}

/** A run of each automation that starts now. */
export async function startRuns(database: string): Promise<void> {
  await query(
    database,
    `with started as (
       insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at,
         start_count, event_count, warning_count, error_count, end_count)
       select ${organization}, ${automationId}, 'late run', now(), now(), now(), 1, 0, 0, 0, 0
       from generate_series(1, ${automations}) as number
       returning organization, automation_id, execution_id
     )
     insert into events (id, organization, automation_id, execution_id, kind, description, error_id, error_description,
       created_at)
     select gen_random_uuid(), *, 'START', '', '', '', now() from started`,
  );
  await query(database, listRunning);
}

/** Runs of the last hours, each of which succeeded. */
export async function seedRuns(database: string): Promise<void> {
  const at = `date_trunc('milliseconds', now() - run * interval '5 min')`;
  await query(
    database,
    `insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at,
       ended_at, start_count, event_count, warning_count, error_count, end_count)
     select ${organization}, ${automationId}, 'run-' || run, ${at}, ${at} + interval '10 s', ${at},
       ${at} + interval '10 s', 1, 0, 0, 0, 1
     from generate_series(1, ${automations}) as number, generate_series(1, ${runsEach}) as run`,
  );
  await query(database, 'vacuum (analyze) executions, running_executions');
}
