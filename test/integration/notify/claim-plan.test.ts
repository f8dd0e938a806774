import { expect } from 'chai';
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import { Pool } from 'pg';
import { claimDue } from '../../../internal/notify/claim.ts';
import type { Tables } from '../../../internal/store/database.ts';
import { declareWebhook } from '../../support/notify/expectations.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedDatabase } from '../../support/store.ts';

/** A node of `explain (format json)`. */
interface Plan {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** How often each name occurs. */
function countsOf(names: readonly string[]): [string, number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]);
}

describe('a look into the outbox', () => {
  it('takes others than a look of another process at the same time, but one of a failing webhook', async () => {
    await using database = await migratedDatabase();
    for (const name of ['incidents', 'failing']) await declareWebhook(database.db, { url: 'https://acme.test/', name });
    await query(database.url, `update webhooks set failing_since = now() where name = 'failing'`);
    await query(
      database.url,
      `insert into deliveries (id, organization, automation_id, webhook_namespace, webhook_name, event)
       select gen_random_uuid(), organization, gen_random_uuid(), namespace, name, '{}'
       from generate_series(1, 20) as number, webhooks`,
    );
    const look = { most: 50, mostOfWebhook: 10, busy: [], leaseMs: 60_000 };
    const looks = await database.db.transaction().execute(async (trx) => {
      return [await claimDue(trx, look), await claimDue(database.db, look)];
    });
    const counts = looks.map((claims) => Object.fromEntries(countsOf(claims.map(({ name }) => name))));
    expect(counts).to.deep.equal([{ incidents: 10, failing: 1 }, { incidents: 10 }]);
    expect(new Set(looks.flat().map(({ id }) => id)).size).to.equal(21);
  });

  it('reads a few of 200,000 deliveries that wait', async function () {
    this.timeout(120_000);
    await using database = await migratedDatabase();
    for (const name of ['incidents', 'failing']) await declareWebhook(database.db, { url: 'http://127.0.0.1/', name });
    await query(database.url, `update webhooks set open_until = now() + interval '1 hour' where name = 'failing'`);
    await query(
      database.url,
      `insert into deliveries (id, organization, automation_id, webhook_namespace, webhook_name, event)
       select gen_random_uuid(), organization, lpad((number % 5000)::text, 32, '0')::uuid, namespace, name, '{}'
       from generate_series(1, 100000) as number, webhooks`,
    );
    await query(database.url, 'analyze deliveries, webhooks');
    const queries: CompiledQuery[] = [];
    const pool = new Pool({ connectionString: database.url, max: 1 });
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: (event) => void queries.push(event.query),
    });
    try {
      expect(await claimDue(db, { most: 50, mostOfWebhook: 10, busy: [], leaseMs: 60_000 })).to.have.length(10);
      const [claim] = queries;
      const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${claim?.sql}`,
        [...(claim?.parameters ?? [])],
      );
      const nodes = rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan));
      expect(nodes.map((node) => node['Index Name'])).to.include('deliveries_of_webhook');
      const read = nodes.filter((node) => node['Relation Name'] === 'deliveries');
      expect(Math.max(...read.map((node) => node['Actual Rows'] * node['Actual Loops']))).to.be.at.most(100);
    } finally {
      await db.destroy();
    }
  });
});
