import { expect } from 'chai';
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import { Client, Pool } from 'pg';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import type { Tables } from '../../../internal/store/database.ts';
import { compactBefore } from '../../../internal/store/compacted/compact.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { query } from '../../support/postgres-server.ts';
import { automationOfLargest, largest, seedRecord } from '../../support/seed-record.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

/** A node of `explain (format json)`. */
interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Sort Method'?: string;
  'Index Cond'?: string;
  Filter?: string;
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const days = 30;
const dayMs = 24 * 3_600_000;
const page = { limit: 50 };
/** At 6 or 18 o'clock: in a partition of a few rows, Postgres would read them all. */
const now = new Date(Math.floor((Date.now() - dayMs / 4) / (dayMs / 2)) * (dayMs / 2) + dayMs / 4);

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Partitions of later days are empty. */
function readsAWholeTable(node: Plan): boolean {
  return node['Node Type'] === 'Seq Scan' && node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) > 0;
}

/** A heap of the first rows holds a page, and an incremental sort the rows of one time. */
function sortsMoreThanAPage(node: Plan): boolean {
  return node['Node Type'] === 'Sort' && node['Sort Method'] !== 'top-N heapsort' && node['Actual Rows'] > 500;
}

/**
 * A distributed Postgres sends such a scan to all nodes. What row-level security adds names the
 * organization too, and does not count.
 */
function namesNoOrganization(node: Plan): boolean {
  const conditions = `${node['Index Cond']} ${node.Filter?.replace(/organization = current_setting/g, '')}`;
  return node['Relation Name'] !== undefined && !conditions.includes('organization');
}

function describeNode(node: Plan): string {
  return `${node['Node Type']} ${node['Relation Name'] ?? ''} ${node['Actual Rows']} rows`;
}

/**
 * The plan of each query at 40,000 executions and 200,000 events of 30 days, half of them in the
 * organization that asks: the indexes, no read of a whole table, no sort of more than a page, few
 * partitions.
 */
describe('plans of the read queries', () => {
  let database: TestDatabase;
  let client: Client;
  let db: Kysely<Tables>;
  let record: Queries;
  let queries: CompiledQuery[];
  /** The index of `events` or `executions` that an index of a partition belongs to. */
  let parents: Map<string, string>;

  before(async function () {
    this.timeout(120_000);
    database = await migratedDatabase();
    await maintain(database.db, { now: now.getTime(), daysAhead: 2, retentionDays: 0 });
    await seedRecord(database.url, { executions: 40_000, days, ending: now });
    const hours = Array.from({ length: 120 }, (_, hour) => now.getTime() - hour * 3_600_000);
    const event = { organization: largest, automationId: busy, executionId: 'of days' };
    await recordEvents(
      database.db,
      hours.map((createdAt) => anEvent({ ...event, createdAt })),
    );
    // Events of two automations meanwhile, of other executions.
    await query(
      database.url,
      `insert into events
       select '${largest}', timestamptz '${now.toISOString()}' - number * interval '5 seconds', gen_random_uuid(),
         case when number % 20 = 0 then '${automationId}' else '${busy}' end::uuid, null, 'other ' || number, 'EVENT', '', '', ''
       from generate_series(1, 86400) as number`,
    );
    const running = Array.from({ length: 2_000 }, (_, number) =>
      anEvent({
        organization: largest,
        automationId: automationOfLargest(number % 200),
        executionId: `running ${number}`,
        kind: 'START',
        createdAt: ago(5).getTime() + number,
      }),
    );
    await recordEvents(database.db, running);
    // No execution of the last 20 days is compacted.
    await compactBefore(database.db, ago(20).getTime(), { newest: 20, block: 16 });
    await query(database.url, 'analyze events, executions, running_executions, compacted_executions, compacted_keys');
    // Autovacuum analyzes each partition, and never the table that has them.
    await query(
      database.url,
      `set allow_system_table_mods = on; delete from pg_statistic where starelid = 'executions'::regclass`,
    );
    client = new Client({ connectionString: database.url });
    await client.connect();
    const pool = new Pool({ connectionString: database.url });
    db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) =>
        void (/set_config|^(begin|set|commit)|pg_stat_database|pg_roles/.test(query.sql.trim()) || queries.push(query)),
    });
    record = createQueries(db, { ...defaultQueryOptions, searchMs: 0 });
    const attached = await query<{ index: string; parent: string }>(
      database.url,
      `select inhrelid::regclass::text as index, inhparent::regclass::text as parent
       from pg_inherits join pg_index on indexrelid = inhrelid`,
    );
    parents = new Map(attached.map(({ index, parent }) => [index, parent]));
    queries = [];
    const { items } = await record.listExecutions(largest, { to: ago(7) }, { limit: 1 });
    one = { automationId: items[0]?.automation ?? '', executionId: items[0]?.execution_id ?? '' };
  });
  after(async () => {
    await client.end();
    await db.destroy();
    await database[Symbol.asyncDispose]();
  });

  /** The plans of the queries that the work runs, with their figures, as the reader role. */
  const plansOf = async (work: () => Promise<unknown>): Promise<Plan[]> => {
    queries = [];
    await work();
    const plans: Plan[] = [];
    await client.query('begin read only');
    await client.query(
      `select set_config('role', 'runledger_reader', true), set_config('runledger.organization', $1, true)`,
      [largest],
    );
    for (const { sql, parameters } of queries) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (analyze, format json) ${sql}`, [
        ...parameters,
      ]);
      plans.push(...rows.map((row) => row['QUERY PLAN'][0].Plan));
    }
    await client.query('commit');
    return plans;
  };

  const ago = (count: number): Date => new Date(now.getTime() - count * dayMs);
  const [automationId, busy] = [automationOfLargest(7), automationOfLargest(8)];
  const window = { from: ago(1), to: now };
  /** An execution of a week ago. */
  let one: { automationId: string; executionId: string };
  const executions = (filters: Parameters<Queries['listExecutions']>[1]) => () =>
    record.listExecutions(largest, filters, page);
  const events = (filters: Parameters<Queries['listEvents']>[1]) => () =>
    record.listEvents(largest, { to: now, ...filters }, page);
  const cases: { name: string; work: () => Promise<unknown>; indexes: string[]; tables?: number }[] = [
    { name: 'executions', work: executions({}), indexes: ['compacted_executions_newest', 'executions_newest'] },
    {
      name: 'executions of a time',
      work: executions({ from: ago(9), to: ago(8) }),
      indexes: ['compacted_executions_newest', 'executions_newest'],
    },
    {
      name: 'failed executions',
      work: executions({ state: 'failed' }),
      indexes: ['compacted_executions_with_failures', 'executions_with_error'],
    },
    {
      name: 'running executions',
      work: executions({ state: 'running' }),
      indexes: ['executions_pkey', 'running_executions_newest'],
    },
    {
      name: 'succeeded executions',
      work: executions({ state: 'succeeded' }),
      indexes: ['compacted_executions_newest', 'executions_newest'],
    },
    {
      name: 'executions with an anomaly',
      work: executions({ anomaly: 'start_missing' }),
      indexes: ['compacted_executions_pkey', 'compacted_executions_with_anomalies', 'executions_with_anomaly'],
    },
    {
      name: 'executions with a warning',
      work: executions({ warning: true }),
      indexes: ['compacted_executions_newest', 'executions_newest'],
    },
    {
      name: 'executions of an automation with a warning',
      work: executions({ automationId, warning: true }),
      indexes: ['compacted_executions_of_automation', 'compacted_executions_pkey', 'executions_of_automation'],
    },
    {
      name: 'executions of an automation',
      work: executions({ automationId }),
      indexes: ['compacted_executions_of_automation', 'executions_of_automation'],
    },
    {
      name: 'failed executions of an automation',
      work: executions({ automationId, state: 'failed' }),
      indexes: [
        'compacted_executions_pkey',
        'compacted_executions_with_failures',
        'compacted_executions_with_failures_of_automation',
        'executions_with_error_of_automation',
      ],
    },
    {
      name: 'executions with an error_id',
      // Six times as many are read: those of a page of 50 are from all days of this small record.
      work: () => record.listExecutions(largest, { errorId: 'E-1' }, { limit: 8 }),
      tables: 7,
      indexes: ['cold_days_pkey', 'compacted_executions_with_failures', 'events_errors', 'executions_with_error'],
    },
    {
      name: 'executions with a text',
      work: executions({ q: '0a' }),
      indexes: ['compacted_executions_newest', 'events_of_automation', 'executions_newest', 'executions_pkey'],
    },
    {
      name: 'executions with an id',
      work: () => record.listExecutions(largest, { executionId: one.executionId }, page),
      indexes: ['compacted_executions_pkey', 'compacted_keys_pkey', 'executions_of_automation', 'executions_pkey'],
    },
    {
      name: 'one execution',
      work: () => record.getExecution(largest, one.automationId, one.executionId),
      indexes: ['compacted_executions_pkey', 'compacted_keys_pkey', 'executions_pkey'],
    },
    { name: 'events', work: events({}), indexes: ['events_pkey'] },
    {
      name: 'events of a time',
      work: events({ from: ago(9), to: ago(8) }),
      indexes: ['cold_days_pkey', 'events_pkey'],
    },
    { name: 'events of a kind', work: events({ kind: 'START' }), indexes: ['events_pkey'] },
    {
      name: 'warnings',
      work: events({ kind: 'WARNING' }),
      indexes: ['compacted_executions_newest', 'events_warnings', 'executions_newest'],
    },
    {
      name: 'errors',
      work: events({ kind: 'ERROR' }),
      indexes: ['compacted_executions_newest', 'events_errors', 'executions_newest'],
    },
    {
      name: 'events with an error_id',
      work: events({ errorId: 'E-1' }),
      indexes: ['compacted_executions_newest', 'events_errors', 'executions_newest'],
    },
    { name: 'events of an automation', work: events({ automationId }), indexes: ['events_of_automation'] },
    { name: 'events with a text', work: events({ q: '0a' }), indexes: ['events_pkey'] },
    {
      name: 'events of an execution of a moment',
      work: () => record.listEvents(largest, one, page),
      indexes: ['cold_days_pkey', 'compacted_executions_pkey', 'compacted_keys_pkey', 'events_pkey', 'executions_pkey'],
    },
    {
      name: 'events of an execution of days',
      work: () => record.listEvents(largest, { automationId: busy, executionId: 'of days' }, page),
      tables: 7,
      indexes: [
        'cold_days_pkey',
        'compacted_executions_pkey',
        'compacted_keys_pkey',
        'events_of_execution',
        'executions_pkey',
      ],
    },
    {
      name: 'an export',
      work: async () => {
        for await (const { items } of record.exportEvents(largest, { from: ago(9) }, page)) if (items.length > 0) break;
      },
      indexes: ['cold_days_pkey', 'compacted_executions_newest', 'events_pkey', 'executions_newest'],
    },
    {
      name: 'an export of an automation',
      work: async () => {
        const filters = { from: ago(9), automationId };
        for await (const { items } of record.exportEvents(largest, filters, page)) if (items.length > 0) break;
      },
      indexes: ['cold_days_pkey', 'compacted_executions_newest', 'events_of_automation', 'executions_newest'],
    },
    {
      name: 'an export of errors',
      work: async () => {
        const filters = { from: ago(9), kind: 'ERROR' } as const;
        for await (const { items } of record.exportEvents(largest, filters, page)) if (items.length > 0) break;
      },
      indexes: ['cold_days_pkey', 'compacted_executions_newest', 'events_errors', 'executions_newest'],
    },
    {
      name: 'automations',
      work: () => record.listAutomations(largest, window, page),
      indexes: ['automations_pkey', 'executions_of_automation'],
    },
    {
      name: 'an automation',
      work: () => record.getAutomation(largest, automationId, { ...window, step: 'hour' }),
      indexes: ['executions_of_automation'],
    },
    {
      name: 'an automation over a month',
      work: () => record.getAutomation(largest, automationId, { from: ago(days), to: now, step: 'day' }),
      indexes: ['compacted_executions_of_automation', 'compacted_executions_pkey', 'executions_of_automation'],
    },
    {
      name: 'error groups',
      work: () => record.listErrors(largest, window, page),
      indexes: ['events_errors', 'events_errors_occurred'],
    },
    {
      name: 'a poll of a stream',
      work: async () => {
        const { position } = await record.pollStored(largest, undefined, 200);
        await record.pollStored(largest, { ...position, since: '3:3:' }, 200);
      },
      indexes: ['events_pkey', 'executions_pkey', 'rewritten_events_pkey'],
    },
  ];

  for (const { name, work, indexes, tables = 5 } of cases) {
    it(`${name}: ${indexes.join(', ')}`, async () => {
      const plans = await plansOf(work);
      // So it goes to the node of a distributed Postgres that has the organization.
      const unnamed = queries.filter(({ sql }) => !sql.includes('organization')).map(({ sql }) => sql);
      expect(unnamed, 'names no organization').to.deep.equal([]);
      const used = plans.flatMap(nodesOf).flatMap((node) => node['Index Name'] ?? []);
      // The rows that are shown look by their keys whether they are lost.
      const own = used.filter((index) => index !== 'running_executions_pkey');
      expect([...new Set(own.map((index) => parents.get(index) ?? index))].toSorted()).to.deep.equal(indexes);
      for (const plan of plans) {
        const nodes = nodesOf(plan);
        expect(nodes.filter(readsAWholeTable).map(describeNode), 'reads a whole table').to.deep.equal([]);
        expect(nodes.filter(namesNoOrganization).map(describeNode), 'names no organization').to.deep.equal([]);
        expect(nodes.filter(sortsMoreThanAPage).map(describeNode), 'sorts more than a page').to.deep.equal([]);
        const partitions = new Set(nodes.flatMap((node) => node['Relation Name'] ?? []));
        expect(partitions.size, [...partitions].join(', ')).to.be.at.most(tables);
      }
    });
  }
});
