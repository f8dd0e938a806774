import { expect } from 'chai';
import { followDeclarations } from '../../../cmd/controller/declarations.ts';
import type {
  Declarations,
  DeclaredAutomation,
  DeclaredChannel,
} from '../../../internal/controller/declarations/declarations.ts';
import type { Rules } from '../../../internal/expectation/rules.ts';
import { TableSync } from '../../../internal/controller/declarations/table-sync.ts';
import { Apart, type Turns } from '../../../internal/store/apart.ts';
import { failureOf } from '../../support/failure.ts';
import { eachDatabase } from '../../support/store.ts';

const [first, later] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')];

const automation: DeclaredAutomation = {
  organization: 'acme',
  namespace: 'acme-automations',
  name: 'invoices',
  uid: 'uid-1',
  generation: 1,
  automationId: '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11',
  displayName: 'Invoices',
  owner: 'billing',
  tags: ['nightly', 'eu'],
  links: [{ title: 'Runbook', url: 'https://wiki.acme.example' }],
  expect: { every: '1h' },
  alertLabels: { team: 'billing' },
  suspend: false,
};

const channel: DeclaredChannel = {
  organization: 'acme',
  namespace: 'acme-automations',
  name: 'incidents',
  type: 'webhook',
  url: 'https://acme.example/a',
  to: [],
  quietHours: null,
  secretRef: 'keys',
  kinds: ['automation.missing'],
  filter: { owners: ['billing'] },
};

describe('the tables of declarations', () => {
  const database = eachDatabase();

  const tables = new TableSync();
  const sync = ({ automations = [], channels = [] }: Partial<Declarations>, now = first): Promise<unknown> =>
    database.db.transaction().execute((trx) => tables.run(trx, { automations, channels }, now));

  it('hold every declaration', async () => {
    const other = { ...automation, organization: 'globex', expect: undefined };
    await sync({ automations: [automation, other], channels: [channel] });
    const rows = await database.db.selectFrom('automations').selectAll().orderBy('organization').execute();
    expect(rows[0]).to.deep.equal({
      organization: 'acme',
      automation_id: automation.automationId,
      namespace: 'acme-automations',
      name: 'invoices',
      uid: 'uid-1',
      generation: '1',
      display_name: 'Invoices',
      owner: 'billing',
      tags: ['nightly', 'eu'],
      links: automation.links,
      expect: { every: '1h' },
      alert_labels: { team: 'billing' },
      suspend: false,
      declared_at: first,
      next_at: null,
      evaluated_at: null,
      verdict: null,
      start_before: null,
      last_start: null,
      rules: {
        starts: { means: 'every 3600000', since: first.getTime() },
        failures: { means: '{"kind":"consecutive","consecutive":1}', since: first.getTime() },
        lost: { means: '604800000', since: first.getTime() },
      },
      declared: true,
      note: null,
    });
    expect(rows[1]).to.include({ organization: 'globex', expect: null });
    expect(await database.db.selectFrom('channels').selectAll().execute()).to.deep.equal([
      {
        organization: 'acme',
        namespace: 'acme-automations',
        name: 'incidents',
        type: 'webhook',
        url: 'https://acme.example/a',
        to: [],
        quiet_hours: null,
        secret_ref: 'keys',
        kinds: ['automation.missing'],
        filter: { owners: ['billing'] },
        allow_private: true,
        failing_since: null,
        open_until: null,
      },
    ]);
  });

  for (const [what, change, since] of [
    ['nothing', {}, first],
    ['the owner', { generation: 2, owner: 'finance' }, first],
    ['what is expected', { generation: 2, expect: { every: '2h' } }, later],
    ['the text of what is expected, not its meaning', { generation: 2, expect: { every: '60m' } }, first],
    ['the grace', { generation: 2, expect: { every: '1h', grace: '5m' } }, first],
    ['suspend', { generation: 2, suspend: true }, later],
    ['the resource, with the same expectations', { uid: 'uid-2' }, first],
  ] as const) {
    it(`let expectations hold from ${since === first ? 'the first' : 'the new'} time after a change of ${what}`, async () => {
      await sync({ automations: [automation] });
      const evaluated = { evaluated_at: first, next_at: later, verdict: '[]' };
      await database.db.updateTable('automations').set(evaluated).execute();
      await sync({ automations: [{ ...automation, ...change }] }, later);
      const [row] = await database.db.selectFrom('automations').selectAll().execute();
      expect(row).to.deep.include({ declared_at: since, evaluated_at: first, verdict: [] });
      expect(row?.next_at).to.deep.equal(what === 'nothing' ? later : null);
    });
  }

  it('keep the time of each rule whose meaning did not change', async () => {
    const since = async () => {
      const row = await database.db.selectFrom('automations').select('rules').executeTakeFirstOrThrow();
      const rules = Object.entries(row.rules as Rules);
      return Object.fromEntries(
        rules.map(([name, rule]) => [name, rule.since === first.getTime() ? 'first' : 'later']),
      );
    };
    const before = { every: '1h', failures: { consecutive: 1 } };
    await sync({ automations: [{ ...automation, expect: before }] });
    const changed = { every: '60m', failures: { consecutive: 1 }, maxDuration: '1h' };
    await sync({ automations: [{ ...automation, generation: 2, expect: changed }] }, later);
    expect(await since()).to.deep.equal({ starts: 'first', failures: 'first', lost: 'first', maxDuration: 'later' });
    const other = { schedule: '0 * * * *', failures: { consecutive: 2 }, lostAfter: '168h' };
    await sync({ automations: [{ ...automation, generation: 3, expect: other }] }, later);
    expect(await since()).to.deep.equal({ starts: 'later', failures: 'later', lost: 'first' });
  });

  it('follow the declarations again after another controller changed them, or a tick was rolled back', async () => {
    const automations = [automation];
    const names = () => database.db.selectFrom('automations').select('name').execute();
    const rolledBack = database.db.transaction().execute(async (trx) => {
      await tables.run(trx, { automations, channels: [] }, first);
      throw new Error('the tick failed');
    });
    expect(await failureOf(rolledBack)).to.include({ message: 'the tick failed' });
    await sync({ automations });
    expect(await names()).to.deep.equal([{ name: 'invoices' }]);
    const other = { automations: [{ ...automation, name: 'renamed' }], channels: [] };
    await database.db.transaction().execute((trx) => new TableSync().run(trx, other, first));
    await sync({ automations });
    expect(await names()).to.deep.equal([{ name: 'invoices' }]);
  });

  it('are read and written a page at a time, and read only after a change', async () => {
    const automations = Array.from({ length: 1_001 }, (_, index) => ({ ...automation, organization: `org-${index}` }));
    /** The rows of each statement. */
    const rows: number[] = [];
    const counting = database.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        rows.push(Math.max(result.rows.length, Number(result.numAffectedRows ?? 0)));
        return result;
      },
    });
    const most = async (declared: readonly DeclaredAutomation[]): Promise<number> => {
      const given = { automations: declared, channels: [] };
      await counting.transaction().execute((trx) => tables.run(trx, given, first));
      return Math.max(...rows.splice(0));
    };
    expect(await most(automations), 'written').to.equal(1_000);
    expect(await most(automations), 'the digest').to.equal(1);
    await database.db.updateTable('automations').set({ next_at: later }).execute();
    const changed = automations
      .slice(1)
      .map((each) => (each.organization === 'org-7' ? { ...each, uid: 'new' } : each));
    expect(await most(changed), 'read').to.equal(1_000);
    const all = database.db.selectFrom('automations').select('organization');
    expect(await all.execute()).to.have.length(1_000);
    expect(await all.where('next_at', 'is', null).execute()).to.deep.equal([{ organization: 'org-7' }]);
    await most(automations);
    expect(await most([]), 'deleted').to.equal(1_000);
  });

  it('lose what is no longer declared', async () => {
    await sync({ automations: [automation, { ...automation, organization: 'globex' }], channels: [channel] });
    await sync({ automations: [automation] });
    expect(await database.db.selectFrom('automations').select('organization').execute()).to.deep.equal([
      { organization: 'acme' },
    ]);
    expect(await database.db.selectFrom('channels').selectAll().execute()).to.deep.equal([]);
  });

  it('close the circuit of a channel when its address changes, and only then', async () => {
    await sync({ channels: [channel] });
    await database.db.updateTable('channels').set({ failing_since: first, open_until: later }).execute();
    await sync({ channels: [{ ...channel, kinds: [] }] });
    const circuit = () => database.db.selectFrom('channels').select(['kinds', 'failing_since', 'open_until']).execute();
    expect(await circuit()).to.deep.equal([{ kinds: [], failing_since: first, open_until: later }]);
    await sync({ channels: [{ ...channel, url: 'https://acme.example/b' }] });
    expect(await circuit()).to.deep.equal([{ kinds: ['automation.missing'], failing_since: null, open_until: null }]);
  });

  it('follow captured CronJobs where nothing else declares, once all are known', async () => {
    const other = { ...automation, automationId: '1b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11', name: 'of-cron-job' };
    let cronJobs: DeclaredAutomation[] | undefined;
    const source = {
      current: () => ({ automations: [automation], channels: [] }),
      refuse: () => undefined,
      afterTick: () => undefined,
    };
    const follow = followDeclarations(source, { declarations: () => cronJobs });
    const names = async () => {
      await database.db.transaction().execute((trx) => follow.recordTick(trx, 0));
      const rows = await database.db.selectFrom('automations').select('name').orderBy('name').execute();
      return rows.map(({ name }) => name);
    };
    expect(await names()).to.deep.equal([]);
    cronJobs = [{ ...automation, name: 'replaced' }, other];
    expect(await names()).to.deep.equal(['invoices', 'of-cron-job']);
    cronJobs = undefined;
    expect(await names()).to.deep.equal(['invoices', 'of-cron-job']);
  });

  it('leave out only what Postgres refuses, until it changes, and say which and why', async () => {
    const other = { ...automation, organization: 'globex' };
    const hostile = { ...automation, automationId: '1b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11', name: 'bad', owner: 'a\0b' };
    const bad = { ...channel, name: 'bad', filter: { owners: ['a\0b'] } };
    const declared = { automations: [automation, hostile, other], channels: [bad, channel] };
    let current = declared;
    const refused: unknown[] = [];
    const source = {
      current: () => current,
      refuse: (resources: readonly unknown[]) => void refused.push(...resources),
      afterTick: () => undefined,
    };
    const follow = followDeclarations(source);
    const tick = (turns?: Turns) =>
      database.db.transaction().execute((trx) => follow.recordTick(trx, 0, undefined, turns));
    expect(await failureOf(tick())).to.include({ code: '22P05' });
    await tick(new Apart());
    const why = 'the database refuses the declaration: unsupported Unicode escape sequence';
    expect(refused).to.deep.equal([
      { kind: 'Automation', namespace: 'acme-automations', name: 'bad', message: why },
      { kind: 'Channel', namespace: 'acme-automations', name: 'bad', message: why },
    ]);
    const stored = async () => {
      const automations = await database.db.selectFrom('automations').select(['organization', 'name']).execute();
      const channels = await database.db.selectFrom('channels').select(['organization', 'name']).execute();
      return [...automations, ...channels].map(({ organization, name }) => `${organization}/${name}`).sort();
    };
    expect(await stored()).to.deep.equal(['acme/incidents', 'acme/invoices', 'globex/invoices']);

    await tick();
    current = { automations: [hostile, { ...automation, generation: 2 }], channels: [bad, channel] };
    await tick();
    expect(await stored(), 'without another look at the refused ones').to.deep.equal([
      'acme/incidents',
      'acme/invoices',
    ]);
    current = { automations: [{ ...hostile, generation: 2, owner: 'a' }], channels: [{ ...bad, filter: {} }] };
    await tick();
    expect(await stored()).to.deep.equal(['acme/bad', 'acme/bad']);
  });
});
