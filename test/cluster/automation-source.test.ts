import { expect } from 'chai';
import { followDeclarations } from '../../cmd/controller/declarations.ts';
import { Apart } from '../../internal/store/apart.ts';
import { sql } from '../../internal/store/sql.ts';
import { TableSync } from '../../internal/controller/declarations/table-sync.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { installDefinitions } from '../support/cluster/automation-definitions.ts';
import { DeclaredCluster, rulesOfController, type Rule } from '../support/cluster/declared-cluster.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { anEvent } from '../support/events.ts';
import { renderWith } from '../support/helm.ts';
import { eachDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
const other = '5e0c2f0e-98b1-4a57-8d7f-6a3d1c0b7e22';
const verdict = {
  kind: 'missing',
  occurrence: 'x',
  reason: 'No run started.',
  facts: {},
  since: '2026-01-01T00:00:00Z',
};

const rules = await rulesOfController();

describe('automations of a real API server', () => {
  let world: DeclaredCluster;
  before(() => installDefinitions(sharedCluster()));
  const database = eachDatabase();
  beforeEach(() => {
    world = new DeclaredCluster(rules);
  });
  afterEach(() => world.stop());

  const declares = (...expected: string[]): Promise<true> =>
    until(`declared: ${expected.join()}`, () => JSON.stringify(world.declared()) === JSON.stringify(expected));

  const tables = new TableSync();

  /** A tick of the controller: the tables follow, then the status. */
  const tick = async (verdicts?: object[]): Promise<void> => {
    const declarations = world.source?.current();
    if (declarations === undefined) throw new Error('nothing is declared');
    await database.db.transaction().execute((trx) => tables.run(trx, declarations, new Date()));
    if (verdicts !== undefined) {
      await database.db
        .updateTable('automations')
        .set({ verdict: JSON.stringify(verdicts) })
        .execute();
    }
    world.source?.afterTick();
    await world.source?.idle();
  };

  const conditionsOf = async (namespace: string, name: string, kind: 'Automation' | 'Channel' = 'Automation') => {
    const { status } = await world.get(kind, namespace, name);
    return Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, `${one.status} ${one.reason}`]));
  };

  const shows = (namespace: string, name: string, expected: object): Promise<true> =>
    until(`${name}: ${JSON.stringify(expected)}`, async () => {
      await tick();
      return JSON.stringify(await conditionsOf(namespace, name)) === JSON.stringify(expected);
    });

  it('follow resources and labels, and belong to the organization of the label only', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    const globex = await world.createNamespace('globex', undefined);
    await world.put('Automation', acme, 'one', { automationId });
    await world.put('Automation', globex, 'one', { automationId });
    await world.start(database.db);
    await declares(`${acme}/one acme`);
    const label = (organization: string | null): Promise<unknown> =>
      sharedCluster().admin.must('PATCH', `/api/v1/namespaces/${globex}`, {
        metadata: { labels: { 'runledger.dev/organization': organization } },
      });
    await label('globex');
    await declares(`${acme}/one acme`, `${globex}/one globex`);
    await label(null);
    await declares(`${acme}/one acme`);
    await sharedCluster().admin.must('DELETE', `/apis/runledger.dev/v1beta1/namespaces/${acme}/automations/one`);
    await declares();
  });

  it('get Ready and Healthy, the last run, and a time of each transition', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId, expect: { every: '1h' } });
    await world.start(database.db, { statusMs: 1_000 });
    await declares(`${acme}/one acme`);
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'Unknown NotEvaluated' });

    await tick([]);
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'True ExpectationsMet' });
    const { status: healthy } = await world.get('Automation', acme, 'one');
    await recordEvents(database.db, [
      anEvent({ organization: 'acme', automationId, executionId: 'run-1', kind: 'START' }),
    ]);
    const running = await until('the last run', async () => {
      await tick();
      return (await world.get('Automation', acme, 'one')).status?.lastExecution;
    });
    expect(running).to.include({ executionId: 'run-1', state: 'running' });

    await tick([verdict]);
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'False Missing' });
    const { status: missing } = await world.get('Automation', acme, 'one');
    expect(missing?.observedGeneration).to.equal(1);
    expect(missing?.conditions[1]?.message).to.equal('No run started.');
    expect(missing?.conditions[0]?.lastTransitionTime).to.equal(healthy?.conditions[0]?.lastTransitionTime);
    await world.put('Automation', acme, 'one', { automationId, suspend: true });
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'Unknown Suspended' });
  });

  it('are declared as before after a write of their status', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId, expect: { every: '1h' } });
    const source = await world.start(database.db, { settleMs: 1 });
    await declares(`${acme}/one acme`);
    // New declarations are compared with the table. A full list makes new ones too, and the API
    // server may ask for one at any time.
    await until('two writes of a status without new declarations', async () => {
      const declared = source.current();
      await tick([verdict]);
      await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'False Missing' });
      await tick([]);
      await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'True ExpectationsMet' });
      return source.current() === declared;
    });
  });

  it('get no new status for a run alone before the time has passed', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId, expect: { every: '1h' } });
    await world.start(database.db);
    await declares(`${acme}/one acme`);
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'Unknown NotEvaluated' });
    await recordEvents(database.db, [
      anEvent({ organization: 'acme', automationId, executionId: 'run-1', kind: 'START' }),
    ]);
    const writes = async (): Promise<string> =>
      (await world.registry.metrics()).match(/status_writes_total\{.*/)?.[0] ?? '';
    const before = await writes();
    for (let turn = 0; turn < 10; turn += 1) await tick();
    expect(await writes()).to.equal(before);
    await tick([verdict]);
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'False Missing' });
    expect((await world.get('Automation', acme, 'one')).status?.lastExecution?.executionId).to.equal('run-1');
  });

  it('that are declared twice go to the older resource; the other says so, once', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'older', { automationId });
    const created = Date.now();
    await until(
      'another second, which Kubernetes keeps',
      () => Math.floor(Date.now() / 1_000) > Math.ceil(created / 1_000),
    );
    await world.put('Automation', acme, 'a-younger', { automationId });
    await world.start(database.db);
    await declares(`${acme}/older acme`);
    await shows(acme, 'a-younger', { Ready: 'False DuplicateAutomation', Healthy: 'Unknown NotAccepted' });
    const [event, ...more] = await until('the Event', async () => {
      const events = await world.events(acme);
      return events.length > 0 && events;
    });
    expect(more).to.deep.equal([]);
    expect(event).to.deep.include({ type: 'Warning', reason: 'DuplicateAutomation' });
    expect(event?.involvedObject).to.include({ kind: 'Automation', name: 'a-younger' });
    await sharedCluster().admin.must('DELETE', `/apis/runledger.dev/v1beta1/namespaces/${acme}/automations/older`);
    await declares(`${acme}/a-younger acme`);
  });

  it('that Postgres refuses are not Ready, get an Event, and keep no other out', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId });
    await world.put('Automation', acme, 'two', { automationId: other });
    const source = await world.start(database.db);
    await declares(`${acme}/one acme`, `${acme}/two acme`);
    await sql`alter table automations add constraint refused check (name <> 'one')`.execute(database.db);
    const follow = followDeclarations(source);
    await database.db.transaction().execute((trx) => follow.recordTick(trx, 0, undefined, new Apart()));
    const stored = await database.db.selectFrom('automations').select('name').execute();
    expect(stored).to.deep.equal([{ name: 'two' }]);
    const [event] = await until('the Event', async () => {
      const events = await world.events(acme);
      return events.length > 0 && events;
    });
    expect(event).to.deep.include({ type: 'Warning', reason: 'NotStored' });
    await follow.announce(undefined);
    await source.idle();
    expect(await conditionsOf(acme, 'one')).to.include({ Ready: 'False NotStored' });
    expect(await conditionsOf(acme, 'two')).to.include({ Ready: 'True Accepted' });
  });

  it('with an invalid schedule are not Ready, and get an Event that says why', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId, expect: { schedule: '61 2 * * *' } });
    await world.put('Automation', acme, 'two', { automationId: other });
    await world.start(database.db);
    await declares(`${acme}/two acme`);
    await shows(acme, 'one', { Ready: 'False InvalidSchedule', Healthy: 'Unknown NotAccepted' });
    const [event] = await until('the Event', async () => {
      const events = await world.events(acme);
      return events.length > 0 && events;
    });
    expect(event).to.include({ type: 'Warning', reason: 'InvalidSchedule' });
    expect(event?.message).to.match(/^spec\.expect\.schedule: /);
  });

  it('of channels: keys come from the Secret, and follow its rotation, with the right to get it only', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    const [first, second] = ['a', 'b'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`);
    const channel = { namespace: acme, name: 'hook' };
    await world.put('Channel', acme, 'hook', {
      type: 'webhook',
      url: 'https://acme.example/',
      secretRef: { name: 'keys' },
    });
    const source = await world.start(database.db);
    const reason = (expected: string): Promise<true> =>
      until(expected, async () => {
        if (source.current() !== undefined) await tick();
        return (await conditionsOf(acme, 'hook', 'Channel'))['Ready'] === expected;
      });
    await reason('False SecretForbidden');

    await world.grant(acme, [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['keys'], verbs: ['get'] }]);
    await reason('False SecretNotFound');
    const secrets = `/api/v1/namespaces/${acme}/secrets`;
    await sharedCluster().admin.put(secrets, { metadata: { name: 'keys' }, stringData: { 'secret-1': 'short' } });
    await reason('False InvalidSecret');
    await sharedCluster().admin.put(secrets, { metadata: { name: 'keys' }, stringData: { 'secret-1': first } });
    await reason('True Accepted');
    expect(source.secretsOf(channel)).to.deep.equal([first]);
    await sharedCluster().admin.put(secrets, {
      metadata: { name: 'keys' },
      stringData: { 'secret-1': first, 'secret-2': second },
    });
    await until('both keys', () => source.secretsOf(channel).length === 2);
    expect(world.logs.lines.join('')).not.to.include(first);
  });

  it('of some namespaces only are followed with the rights to these namespaces', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    const globex = await world.createNamespace('globex', 'globex');
    for (const namespace of [acme, globex]) await world.put('Automation', namespace, 'one', { automationId });
    const manifests = await renderWith(`controller.namespaces={${acme}}`);
    const rulesIn = (kind: string, namespace?: string): Rule[] => {
      const role = manifests.find((one) => one.kind === kind && one.metadata.namespace === namespace);
      return (role as unknown as { rules: Rule[] }).rules;
    };
    world.namespaces = [acme];
    world.rules = rulesIn('ClusterRole');
    await world.start(database.db);
    await world.grant(acme, rulesIn('Role', acme));
    await declares(`${acme}/one acme`);
    await shows(acme, 'one', { Ready: 'True Accepted', Healthy: 'Unknown NoExpectations' });
    expect((await world.get('Automation', globex, 'one')).status).to.equal(undefined);
  });

  for (const { apiGroups, resources, verbs } of rules) {
    for (const resource of resources) {
      for (const verb of verbs) {
        it(`need the right to ${verb} ${[resource, ...apiGroups].filter(Boolean).join('.')}`, async () => {
          const without = rules.flatMap((rule) =>
            rule.resources.map((each) => ({
              ...rule,
              resources: [each],
              verbs: rule.verbs.filter((one) => each !== resource || one !== verb),
            })),
          );
          world = new DeclaredCluster(without.filter((rule) => rule.verbs.length > 0));
          const acme = await world.createNamespace('acme', 'acme');
          await world.put('Automation', acme, 'one', { automationId, expect: { schedule: '61 2 * * *' } });
          await world.put('Channel', acme, 'hook', {
            type: 'webhook',
            url: 'https://acme.example/',
            secretRef: { name: 'keys' },
          });
          await world.start(database.db);
          await until('a complaint', async () => {
            if (world.source?.current() !== undefined) await tick();
            return world.logs.records.some(({ fields }) => JSON.stringify(fields).includes('answered 403'));
          });
        });
      }
    }
  }

  it('stay as they were while the API server is unavailable, and the tables are left alone', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId });
    const source = await world.start(database.db);
    await declares(`${acme}/one acme`);
    await sharedCluster().kill();
    await until('out of date', () => source.current() === undefined);
    expect(source.unready()).to.equal(undefined);
    await sharedCluster().restart();
    await declares(`${acme}/one acme`);
  });
});
