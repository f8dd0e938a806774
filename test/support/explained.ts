import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import type { Database, Tables } from '../../internal/store/database.ts';

/** A node of `explain (analyze, buffers, format json)`. */
interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** What statements read. */
export interface Reads {
  /** Pages of tables and indexes. */
  pages: number;
  /** Rows of a table, also those that a filter removed. */
  rows: (table: string) => number;
}

const settings = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_analyze=on',
  'auto_explain.log_buffers=on',
  'auto_explain.log_timing=off',
  'auto_explain.log_format=json',
  'client_min_messages=log',
];

/** Counts what the statements of `work` read, as Postgres says after each of them. */
export async function readsOf(url: string, work: (db: Database) => Promise<unknown>): Promise<Reads> {
  const options = settings.map((setting) => `-c ${setting}`).join(' ');
  const pool = new Pool({ connectionString: url, max: 1, options });
  const plans: Plan[] = [];
  pool.on('connect', (client) => {
    client.on('notice', ({ message = '' }) => {
      const json = /plan:\s*(?<json>\{.*\})/s.exec(message)?.groups?.['json'];
      if (json !== undefined) plans.push((JSON.parse(json) as { Plan: Plan }).Plan);
    });
  });
  const db: Database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
  const read = (node: Plan): number =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const ofTable = Map.groupBy(plans.flatMap(nodesOf), (node) => node['Relation Name']);
  return {
    pages: plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0),
    rows: (table) => (ofTable.get(table) ?? []).reduce((sum, node) => sum + read(node), 0),
  };
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
