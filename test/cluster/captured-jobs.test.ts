import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { sql } from '../../internal/store/sql.ts';
import type { RoundTimes } from '../../internal/controller/capture/rounds.ts';
import { JobCapture } from '../../internal/controller/capture/job-capture.ts';
import { createIdentitySource } from '../../internal/event/identity.ts';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { podAccount } from '../../internal/cluster/pod-account.ts';
import type { SupervisionTimes } from '../../internal/cluster/supervision.ts';
import { captureMetrics } from '../../internal/controller/capture/capture-metrics.ts';
import { createRegistry } from '../../internal/kit/telemetry/metrics.ts';
import { DeclaredCluster, rulesOfController } from '../support/cluster/declared-cluster.ts';
import { JobPlayer } from '../support/cluster/job-player.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { eachDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
const cronJobExample = new URL('../../deploy/examples/captured-cronjob.yaml', import.meta.url);
const label = { 'runledger.dev/capture': 'true' };
const cronJobSpec = {
  schedule: '30 2 * * *',
  jobTemplate: {
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/main:1' }] } },
    },
  },
};
const now = Date.now();
const ago = (seconds: number): Date => new Date(Math.floor(now / 1_000) * 1_000 - seconds * 1_000);
const timesAgo = ({ occurredAt }: AcceptedEvent): number | undefined =>
  occurredAt === undefined ? undefined : (ago(0).getTime() - occurredAt) / 1_000;

interface ExampleCronJob {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly jobTemplate: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations: Readonly<Record<string, string>>;
      };
    };
  };
}

describe('captured Jobs', () => {
  const database = eachDatabase();
  let world: DeclaredCluster;
  let players: JobPlayer[];
  let captures: JobCapture[];
  /** What the queue has taken. */
  let recorded: AcceptedEvent[];
  let queueFails: boolean;
  /** What waited when the queue was asked to take events of these organizations. */
  let waiting: (Pick<JobCapture, 'pendingSince' | 'behind'> & { of: Set<string> })[];
  before(async () => {
    world = new DeclaredCluster(await rulesOfController('controller.captureJobs.enabled=true'));
    await world.account();
  });
  beforeEach(() => {
    [players, captures, recorded, queueFails, waiting] = [[], [], [], false, []];
  });
  afterEach(async () => {
    await Promise.all(captures.map((capture) => capture.stop()));
    await Promise.all(players.map((player) => player.deleteAll()));
  });

  const inNamespace = async (name: string, labels: Record<string, string>): Promise<JobPlayer> => {
    const player = await JobPlayer.inNamespace(world.namespace(name), labels);
    players.push(player);
    return player;
  };

  const start = async (times: Partial<SupervisionTimes & RoundTimes> = {}): Promise<JobCapture> => {
    const capture = new JobCapture({
      connect: podAccount(sharedCluster().url, await world.account()),
      namespaces: [],
      db: database.db,
      enqueueAll: async (groups) => {
        if (queueFails) throw new Error('no queue');
        const all = groups.map(({ events }) => events);
        const of = new Set(all.flat().map(({ organization }) => organization));
        waiting.push({ of, pendingSince: capture.pendingSince, behind: capture.behind });
        recorded.push(...all.flat());
        return all;
      },
      identify: createIdentitySource(),
      metrics: captureMetrics(createRegistry('test'), () => 0),
      logger: recordingLogger().logger,
      times: { settleMs: 20, againMs: 20, longestMs: 50, backoff: { firstMs: 20, longestMs: 50 }, ...times },
    });
    captures.push(capture);
    await capture.start();
    await until('a first round', () => queueFails || isDone(capture));
    return capture;
  };

  const isDone = ({ pendingSince, behind }: JobCapture) => pendingSince === undefined && behind === undefined;
  const eventsOf = (uid: string): AcceptedEvent[] => recorded.filter(({ executionId }) => executionId === uid);
  const kindsOf = (uid: string): string[] =>
    eventsOf(uid).map(({ kind, errorId }) => (errorId ? `${kind} ${errorId}` : kind));
  const isRecorded = (uid: string, kind: string) =>
    until(`${kind} of ${uid}`, () => kindsOf(uid).some((one) => one.startsWith(kind)));

  it('are those with the label, on themselves, their template or their namespace', async () => {
    const acme = await inNamespace('acme', { 'runledger.dev/organization': 'acme' });
    const globex = await inNamespace('globex', { 'runledger.dev/organization': 'globex', ...label });
    const nobody = await inNamespace('nobody', label);
    const capture = await start();

    const excluded = [
      await acme.create('unlabelled'),
      await nobody.create('of-nobody', { labels: label }),
      await globex.create('excluded', { labels: { 'runledger.dev/capture': 'false' } }),
    ];
    await Promise.all([
      acme.start('unlabelled', ago(60)),
      nobody.start('of-nobody', ago(60)),
      globex.start('excluded', ago(60)),
    ]);

    const own = await acme.create('own', { labels: label });
    await acme.start('own', ago(50));
    await acme.complete('own', ago(40));

    const example = parse(await readFile(cronJobExample, 'utf8')) as ExampleCronJob;
    const { metadata: template } = example.spec.jobTemplate;
    const { name } = example.metadata;
    const uid = await acme.createCronJob(example);
    const scheduled = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': ago(33).toISOString() };
    const ofCronJob = await acme.create('nightly-29', {
      ...template,
      annotations: { ...template.annotations, ...scheduled },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }],
    });
    await acme.start('nightly-29', ago(30));
    await acme.failPod('nightly-29', ofCronJob, { exitCode: 3, message: 'disk full\n' });
    await isRecorded(ofCronJob, 'WARNING');
    await acme.fail('nightly-29', ago(10));

    const ofNamespace = await globex.create('of-namespace');
    await globex.start('of-namespace', ago(50));
    await globex.complete('of-namespace', ago(40));

    for (const uid of [own, ofCronJob, ofNamespace]) await isRecorded(uid, 'END');
    expect(excluded.flatMap(kindsOf)).to.deep.equal([]);
    await until('a warning', async () => (await world.events(nobody.namespace)).length > 0);
    expect((await world.events(nobody.namespace))[0]).to.deep.include({ type: 'Warning', reason: 'NoOrganization' });
    expect(
      eventsOf(own).map((event) => [event.kind, event.organization, event.automationId, timesAgo(event)]),
    ).to.deep.equal([
      ['START', 'acme', own, 50],
      ['END', 'acme', own, 40],
    ]);
    expect(eventsOf(ofNamespace).map(({ kind, organization }) => `${kind} ${organization}`)).to.deep.equal([
      'START globex',
      'END globex',
    ]);
    const [begun, warning, error] = eventsOf(ofCronJob);
    expect(begun).to.deep.include({ automationId, kind: 'START' });
    expect(begun?.description).to.match(
      /^Job nightly-29 of CronJob nightly-invoices, scheduled for \S+, started 3 s later$/,
    );
    expect(warning).to.deep.include({ errorId: 'Error', errorDescription: 'disk full' });
    expect(error).to.deep.include({ kind: 'ERROR', errorId: 'BackoffLimitExceeded' });

    const declared = capture.declarations()?.filter((one) => one.name === name);
    expect(declared).to.have.length(1);
    expect(declared?.[0]).to.deep.include({
      automationId,
      organization: 'acme',
      expect: { schedule: '30 2 * * *', timeZone: 'Europe/Madrid' },
    });

    await capture.stop();
    const before = recorded.length;
    await start();
    expect(recorded.slice(before), 'after a restart').to.deep.equal([]);
  });

  it('have failed if they are deleted before their end, also while nobody watches', async () => {
    const acme = await inNamespace('deleting', { 'runledger.dev/organization': 'acme', ...label });
    queueFails = true;
    const first = await start();
    const unqueued = await acme.create('unqueued');
    await acme.start('unqueued', ago(60));
    await until(
      'known',
      async () => (await database.db.selectFrom('captured_jobs').select('uid').execute()).length === 1,
    );
    await first.stop();
    await acme.delete('unqueued');
    expect(recorded).to.deep.equal([]);

    queueFails = false;
    const second = await start();
    expect(kindsOf(unqueued)).to.deep.equal(['START', 'ERROR JobDeleted', 'END']);
    const names = ['watched', 'unwatched', 'complete', 'unstarted'];
    const [watched = '', unwatched = '', complete = '', unstarted = ''] = await Promise.all(
      names.map((name) => acme.create(name)),
    );
    await Promise.all(['watched', 'unwatched', 'complete'].map((name) => acme.start(name, ago(50))));
    for (const uid of [watched, unwatched, complete]) await isRecorded(uid, 'START');
    await acme.complete('complete', ago(40));
    await Promise.all(['complete', 'watched', 'unstarted'].map((name) => acme.delete(name)));
    await Promise.all([isRecorded(watched, 'END'), isRecorded(complete, 'END')]);
    await until('all of it', () => isDone(second));
    await second.stop();
    await acme.delete('unwatched');

    await start();
    expect(kindsOf(watched)).to.deep.equal(['START', 'ERROR JobDeleted', 'END']);
    expect(kindsOf(unwatched)).to.deep.equal(['START', 'ERROR JobDeleted', 'END']);
    expect(kindsOf(complete)).to.deep.equal(['START', 'END']);
    expect(kindsOf(unstarted)).to.deep.equal([]);
    expect(recorded).to.have.length(11);
  });

  it('that lie about their owner, or that Postgres refuses, keep no other from the record', async () => {
    const hostile = await inNamespace('hostile', { 'runledger.dev/organization': 'hostile', ...label });
    const quiet = await inNamespace('quiet', { 'runledger.dev/organization': 'quiet', ...label });
    const owned = (name: string, uid: string) => ({
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }],
    });
    const elsewhere = await quiet.createCronJob({ metadata: { name: 'nightly' }, spec: cronJobSpec });
    const lies = [
      await hostile.create('no-uuid', owned('nightly', 'not-a-uuid')),
      await hostile.create('of-another', owned('nightly', elsewhere)),
      await hostile.create('of-nobody', owned('..', automationId)),
    ];
    const refused = await hostile.create('refused');
    const honest = await quiet.create('honest', owned('nightly', elsewhere));
    for (const name of ['no-uuid', 'of-another', 'of-nobody', 'refused']) await hostile.start(name, ago(60));
    await quiet.start('honest', ago(60));
    await sql`alter table captured_jobs add constraint refused check (name <> 'refused')`.execute(database.db);
    const capture = await start();
    expect(capture.pendingSince, 'the watermark waits for none').to.equal(undefined);
    for (const uid of [...lies, honest]) expect(new Set(kindsOf(uid))).to.deep.equal(new Set(['START']));
    expect(lies.map((uid) => eventsOf(uid)[0]?.automationId)).to.deep.equal(lies);
    expect(eventsOf(honest)[0]?.automationId).to.equal(elsewhere);
    await quiet.complete('honest', ago(40));
    await isRecorded(honest, 'END');
    const reasons = async (): Promise<string[]> =>
      (await world.events(hostile.namespace)).map(({ reason, involvedObject: { name } }) => `${name} ${reason}`).sort();
    await until('the warnings', async () => (await reasons()).length >= 2);
    expect(await reasons()).to.deep.equal(['of-another NoCronJob', 'refused NotRecorded']);

    await sql`alter table captured_jobs drop constraint refused`.execute(database.db);
    await hostile.complete('refused', ago(30));
    await isRecorded(refused, 'END');
  });

  it('of an organization with more than a turn delay neither the Jobs nor the watermark of others', async () => {
    const hostile = await inNamespace('many', { 'runledger.dev/organization': 'hostile', ...label });
    const quiet = await inNamespace('few', { 'runledger.dev/organization': 'quiet', ...label });
    const many = Array.from({ length: 205 }, (_, index) => `many-${index}`);
    await Promise.all(
      many.map(async (name) => {
        await hostile.create(name);
        await hostile.start(name, ago(60));
      }),
    );
    await quiet.create('single');
    await quiet.start('single', ago(50));
    const begun = Date.now();
    await start({ turnsMs: 0 });
    expect(recorded).to.have.length(206);
    const rest = waiting.at(-1);
    expect(waiting.slice(0, -1).flatMap(({ of }) => [...of])).to.include('quiet');
    expect([...(rest?.of ?? [])]).to.deep.equal(['hostile']);
    expect(rest?.pendingSince).to.equal(undefined);
    expect(rest?.behind?.organizations).to.deep.equal(['hostile']);
    expect(rest?.behind?.oldestAt).to.be.within(begun, Date.now());
  });

  it('have their real outcome if they end and are deleted while the list is read again', async () => {
    const acme = await inNamespace('relisted', { 'runledger.dev/organization': 'acme', ...label });
    await start({ relistMs: 20, overlapMs: 2_000 });
    const uids: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      const name = `short-${index}`;
      uids.push(await acme.create(name));
      await acme.complete(name, ago(0), ago(10));
      await acme.delete(name);
    }
    for (const uid of uids) await isRecorded(uid, 'END');
    expect(uids.flatMap(kindsOf).filter((kind) => kind.startsWith('ERROR'))).to.deep.equal([]);
  });
});
