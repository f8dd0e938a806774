import { expect } from 'chai';
import { replicated } from '../../../internal/store/organizations/move/moved-tables.ts';
import { stateTables } from '../../../internal/store/organizations/move/switch.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedUrl } from '../../support/store.ts';

/** What moves with an organization: its record, its log and the state of the controller. */
const moved: string[] = [...replicated, ...stateTables].map(({ name }) => name);

/** Tables with an organization that stay, each with the reason. */
const staying: Record<string, string> = {
  access_log: 'in the first database, as logins are',
  sessions: 'in the first database',
  tokens: 'in the first database, as their Secrets are in one cluster',
  token_requests: 'in the first database',
  captured_jobs: 'in the first database, as Kubernetes has one cluster',
  known_organizations: 'a tick finds them again',
  rewritten_events: 'what the streams of this database have sent',
  moved_organizations: 'the state of a move',
  organization_databases: 'the map',
};

/** What a distributed Postgres needs (docs/design/databases.md), and what a move needs. */
describe('the schema', () => {
  let url: string;
  before(async () => {
    url = await migratedUrl();
  });
  const names = async (text: string, tables: readonly string[] = moved): Promise<unknown[]> => {
    const list = tables.map((table) => `'${table}'`).join();
    return (await query<{ name: string }>(url, text.replace('$tables', list))).map(({ name }) => name);
  };

  it('has no table with an organization that a move forgets', async () => {
    const all = await names(
      `select relname as name from pg_class c join pg_attribute a on attrelid = c.oid and attname = 'organization'
       where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
    );
    expect(all).to.have.members([...moved, ...Object.keys(staying)]);
  });

  it('has a replica identity for each table, which a publication for all tables needs', async () => {
    const without = `select relname as name from pg_class c
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
        and not exists (select from pg_index where indrelid = c.oid and indisprimary)`;
    expect(await names(without)).to.deep.equal([]);
  });

  it('has keys that lead with the organization', async () => {
    const others = `select indexrelid::regclass::text as name from pg_index
      join pg_class t on t.oid = indrelid
      join pg_attribute a on attrelid = indrelid and attnum = indkey[0]
      where indisunique and attname <> 'organization' and relname in ($tables)`;
    expect(await names(others, [...moved, 'rewritten_events'])).to.deep.equal([]);
  });

  it('has no statement trigger on what moves', async () => {
    const triggers = `select tgname as name from pg_trigger join pg_class t on t.oid = tgrelid
      where not tgisinternal and tgtype & 1 = 0 and relname in ($tables)`;
    expect(await names(triggers)).to.deep.equal([]);
  });

  it('has no restrictive policy, and none of the reader role that shows more than one organization', async () => {
    expect(await names('select polname as name from pg_policy where not polpermissive')).to.deep.equal([]);
    const wide = `select format('%s of %s', polname, polrelid::regclass) as name from pg_policy
      where polcmd in ('r', '*') and (polroles = '{0}' and pg_get_expr(polqual, polrelid) !~ 'NOT COALESCE\\(pg_has_role'
        or polroles <> '{0}' and pg_get_expr(polqual, polrelid) !~ '^\\(organization = current_setting')`;
    expect(await names(wide)).to.deep.equal([]);
  });
});
