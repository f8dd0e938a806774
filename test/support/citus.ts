import { replicated } from '../../internal/store/organizations/move/moved-tables.ts';
import { query } from './postgres-server.ts';

/** The address of a database on the coordinator of a Citus at hand; undefined without one. */
export const citusUrl = process.env['CITUS_URL'];

let databases = 0;

/** Makes an empty database on the coordinator and all nodes of a Citus, and returns its address. */
export async function createCitusDatabase(citus: string): Promise<string> {
  databases += 1;
  const name = `runledger_test_${process.pid}_${databases}`;
  const nodes = await query<{ host: string; port: number }>(
    citus,
    'select nodename as host, nodeport as port from pg_dist_node where groupid > 0 and isactive',
  );
  const workers = nodes.map(
    ({ host, port }) => Object.assign(new URL(citus), { hostname: host, port: String(port) }).href,
  );
  for (const server of [citus, ...workers]) {
    await query(server, `create database ${name}`);
    await query(databaseOf(server, name), 'create extension citus');
  }
  const created = databaseOf(citus, name);
  for (const { host, port } of nodes) await query(created, 'select citus_add_node($1, $2)', [host, port]);
  return created;
}

/** Distributes what moves with an organization. The rest stays on the coordinator. */
export async function distribute(url: string): Promise<void> {
  for (const { name } of replicated) {
    await query(url, `select create_distributed_table('${name}', 'organization')`);
  }
}

function databaseOf(server: string, name: string): string {
  return Object.assign(new URL(server), { pathname: name }).href;
}
