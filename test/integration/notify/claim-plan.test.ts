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

describe('a look into the outbox', () => {
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
