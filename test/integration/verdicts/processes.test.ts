import { expect } from 'chai';
import type { Received } from '../../support/notify/receiver.ts';
import { VerdictProcesses } from '../../support/notify/verdict-processes.ts';
import { openSession } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const patience = 60_000;
const idOf = ({ headers }: Received): string | undefined => headers['webhook-id'];
const typeOf = ({ body }: Received): string => (JSON.parse(body) as { type: string }).type;

/** Each world has servers of its own, so the tests can end them. */
describe('verdicts with real processes', function () {
  this.timeout(240_000);
  let world: VerdictProcesses;
  afterEach(() => world.stop());

  const ticksAfter = (time: number): Promise<boolean> =>
    until('a tick has passed', async () => (await world.state()).tickedAt > time, patience);
  const fail = async (run: string): Promise<void> => {
    for (const event of ['START', 'ERROR', 'END']) await world.report(run, event);
  };
  const succeed = async (run: string): Promise<void> => {
    for (const event of ['START', 'END']) await world.report(run, event);
  };
  const shown = async (name: string): Promise<number> =>
    (await world.alertmanager.alerts()).filter(({ labels }) => labels['alertname'] === name).length;

  it('lose nothing and double nothing when controllers are killed in a tick and in a delivery', async () => {
    world = await VerdictProcesses.start('{ failures: { consecutive: 1 } }');
    await world.startWorker();
    const first = await world.startController();
    await ticksAfter(0);

    // The tick waits in its transaction for this lock, with all that it has found.
    const lock = await openSession(world.postgres.url());
    await lock.query('begin; lock table alerts in share row exclusive mode');
    await fail('run 1');
    const waiting = `select 1 from pg_stat_activity where application_name = 'runledger-controller'
      and wait_event_type = 'Lock'`;
    await until('a tick waits', async () => (await world.query(waiting)).length > 0, patience);
    await first.child.kill('SIGKILL');
    const second = await world.startController();
    let answered = 0;
    world.receiver.answer = () => {
      answered += 1;
    };
    await lock.query('rollback');
    await lock[Symbol.asyncDispose]();

    // The second controller sends the delivery, and dies before the receiver answers.
    await until('the delivery has arrived', () => answered > 0, patience);
    await second.child.kill('SIGKILL');
    const [opened] = await world.alerts();
    expect(await world.alerts()).to.have.length(1);
    expect(opened).to.include({ kind: 'failing', resolved_at: null });
    world.receiver.answer = (_, response) => response.writeHead(204).end();
    // The claim of a dead controller ends after 20 s: the test lets that time pass at once.
    await world.query('update deliveries set next_attempt_at = now()');
    const [third, fourth] = await Promise.all([world.startController(), world.startController()]);
    await succeed('run 2');
    await until('all deliveries have arrived', () => world.receiver.received.length >= 3, patience);
    const [lost, again, resolved] = world.receiver.received.map((got) => ({ id: idOf(got), type: typeOf(got) }));
    expect(again, 'the same delivery again').to.deep.equal(lost);
    expect(again?.type).to.equal('dev.runledger.automation.failing');
    expect(resolved?.type).to.equal('dev.runledger.automation.resolved');

    // Either of two controllers does the work of both.
    await third.child.kill('SIGTERM');
    await fail('run 3');
    await until('there is a second alert', async () => (await world.alerts()).length === 2, patience);
    await until('its delivery has arrived', () => world.receiver.received.length >= 4, patience);
    await fourth.ready(patience);
    expect(world.receiver.received).to.have.length(4);
    expect(new Set(world.receiver.received.map(idOf)).size, 'ids').to.equal(3);
    expect(await world.query('select 1 from deliveries')).to.have.length(3);
    await until('Alertmanager shows it', async () => (await shown('AutomationFailing')) === 1, patience);
  });

  it('are never missing without workers, Redis or Postgres, and are right afterwards', async () => {
    world = await VerdictProcesses.start('{ every: 20s, grace: 1s }');
    const worker = await world.startWorker();
    const controllers = await Promise.all([world.startController(), world.startController()]);
    await ticksAfter(0);
    await succeed('run 1');
    await worker.child.kill('SIGKILL');
    const from = Date.now();

    // The record has no run 2, the queue has it: nothing can be proven.
    await succeed('run 2');
    await ticksAfter(from + 20_000 + 1_000 + 10_000);
    expect(await world.alerts(), 'workers away').to.deep.equal([]);
    await world.redis.kill();
    const setBack = `update controller_state set watermark = now() - interval '6 minutes', watermark_at = watermark`;
    const isBlind = async (): Promise<string | undefined> => {
      // Again and again: a tick that has read Redis before its end moves the watermark after it.
      await world.query(setBack);
      return (await world.state()).blind ?? undefined;
    };
    await until('Runledger is blind', isBlind, patience);
    expect((await world.state()).blind).to.match(/^Redis does not answer/);
    await until('Alertmanager shows it', async () => (await shown('RunledgerBlind')) > 0, patience);
    await world.postgres.kill();
    await world.redis.startAgain();
    await until(
      'the controllers are not ready',
      async () => (await Promise.all(controllers.map((each) => each.readiness()))).every((status) => status !== 200),
      patience,
    );
    await world.postgres.startAgain();
    await Promise.all(controllers.map((each) => each.ready(patience)));
    expect(await world.alerts(), 'all away').to.deep.equal([]);

    // Once the queue is empty, run 2 counts, and the run after it is missing.
    await world.startWorker();
    await until('a run is missing', async () => (await world.alerts()).length > 0, patience);
    expect((await world.state()).blind).to.equal(null);
    await until('the channel has it', () => world.receiver.received.length > 0, patience);
    await until('Alertmanager has it', async () => (await shown('AutomationMissing')) === 1, patience);
    const [fact] = await world.query<{ kind: string; expected: string }>(
      `select kind, facts->>'expected_at' as expected from alerts`,
    );
    expect(fact?.kind).to.equal('missing');
    expect(Date.parse(fact?.expected ?? '')).to.be.at.least(from + 20_000);
    expect(await world.alerts()).to.have.length(1);
    expect(world.receiver.received.map(typeOf)).to.deep.equal(['dev.runledger.automation.missing']);
  });
});
