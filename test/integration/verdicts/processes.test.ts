import { expect } from 'chai';
import type { Received } from '../../support/notify/receiver.ts';
import { VerdictProcesses } from '../../support/notify/verdict-processes.ts';
import { openSession } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const patience = 60_000;
const idOf = ({ headers }: Received): string | undefined => headers['webhook-id'];
const typeOf = ({ body }: Received): string => (JSON.parse(body) as { type: string }).type;

/** Each world has servers of its own, so the tests can end them. */
describe('Verdicts with real processes', function () {
  this.timeout(120_000);
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
    expect(await fourth.readiness()).to.equal(200);
    expect(world.receiver.received).to.have.length(4);
    expect(new Set(world.receiver.received.map(idOf)).size, 'ids').to.equal(3);
    expect(await world.query('select 1 from deliveries')).to.have.length(3);
    expect(await shown('AutomationFailing')).to.equal(1);
  });
});
