import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { HTTP, type CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { Child } from '../../support/child.ts';
import { anEvent } from '../../support/events.ts';
import { declare, declareChannel, invoices, transition } from '../../support/notify/expectations.ts';
import type { Received } from '../../support/notify/receiver.ts';
import { newSecret, suiteChannels } from '../../support/notify/suite-channels.ts';
import { figure } from '../../support/rows.ts';
import { until } from '../../support/until.ts';

describe('channels', () => {
  const suite = suiteChannels();
  const { database, secret, registry, start, tick, deliveries, allDelivered } = suite;

  const eventOf = ({ headers, body }: Received) =>
    HTTP.toEvent({ headers, body }) as CloudEvent<Record<string, unknown>>;

  it('are CloudEvents with a signature of Standard Webhooks', async () => {
    await declareChannel(database.db, { url: suite.receiver.url });
    await start();
    const change = transition('opened');
    await tick([change]);
    const [row] = await allDelivered(1);
    const [got] = suite.receiver.received;
    if (got === undefined) throw new Error('nothing was received');
    expect(new Webhook(secret).verify(got.body, got.headers)).to.deep.equal(JSON.parse(got.body));
    const event = eventOf(got);
    expect(event.validate()).to.equal(true);
    expect(event.type).to.equal('dev.runledger.automation.missing');
    expect(event.source).to.equal('https://console.example/runledger/o/acme/');
    expect(event.subject).to.equal(invoices);
    expect(event.data).to.deep.include({ organization: 'acme', automation: invoices, owner: 'billing' });
    expect(event.data?.['alert']).to.deep.include({ id: change.alert.id, reason: 'Nothing started at 02:30.' });
    expect(got.headers['webhook-id']).to.equal(row?.id);
    expect(row).to.deep.include({ attempts: 1, last_status: 204, last_error: null, given_up_at: null });
  });

  it('pass the check of the receiver in deploy/examples', async () => {
    await declareChannel(database.db, { url: suite.receiver.url });
    await start();
    await tick([transition('opened')]);
    await allDelivered(1);
    const [got] = suite.receiver.received;
    const receiverOf = async (key: string): Promise<number> => {
      const child = new Child('python3', ['deploy/examples/webhook-receiver.py'], {
        env: { ...process.env, WEBHOOK_SECRET: key, PORT: '0' },
      });
      try {
        const [port] = /\d+/.exec(await child.line(/listening/)) ?? [];
        const { host: _, 'content-length': __, connection: ___, ...headers } = got?.headers ?? {};
        const sent = { method: 'POST', body: got?.body ?? '', headers: { ...headers, connection: 'close' } };
        const { status } = await fetch(`http://127.0.0.1:${port}/`, sent);
        if (status === 204) await child.line(/^dev.runledger.automation.missing /);
        return status;
      } finally {
        await child.kill();
      }
    };
    expect([await receiverOf(secret), await receiverOf(newSecret())]).to.deep.equal([204, 401]);
  });

  it('have both signatures while one secret replaces another', async () => {
    const next = newSecret();
    await declareChannel(database.db, { url: suite.receiver.url });
    await start({ secretsOf: () => [secret, next] });
    await tick([transition('opened')]);
    await allDelivered(1);
    const [got] = suite.receiver.received;
    for (const valid of [secret, next]) new Webhook(valid).verify(got?.body ?? '', got?.headers ?? {});
    expect(() => new Webhook(newSecret()).verify(got?.body ?? '', got?.headers ?? {})).to.throw(
      'No matching signature',
    );
  });

  it('repeat a delivery with the same id and body until it is accepted', async () => {
    let attempts = 0;
    suite.receiver.answer = (_, response) => response.writeHead((attempts += 1) < 4 ? 500 : 200).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    await start();
    await tick([transition('opened')]);
    const [row] = await allDelivered(1);
    expect(row?.attempts).to.equal(4);
    expect(new Set(suite.receiver.received.map(({ headers }) => headers['webhook-id']))).to.have.lengthOf(1);
    expect(new Set(suite.receiver.received.map(({ body }) => body))).to.have.lengthOf(1);
    for (const { body, headers } of suite.receiver.received) new Webhook(secret).verify(body, headers);
  });

  it('keep the order of an automation, and do not delay others', async () => {
    const other = '5e0c2f0e-98b1-4a57-8d7f-6a3d1c0b7e22';
    const isOther = ({ body }: Received): boolean => body.includes(other);
    let refused = 0;
    suite.receiver.answer = (got, response) => response.writeHead(isOther(got) || (refused += 1) > 3 ? 204 : 503).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    const kinds = ['missing', 'overrunning', 'failing'] as const;
    await tick([...kinds.map((kind) => transition('opened', { kind })), transition('opened', { automationId: other })]);
    await Promise.all([start(), start(), start()]);
    await allDelivered(4);
    const types = suite.receiver.received
      .filter((got) => !isOther(got))
      .map((got) => eventOf(got).type.split('.').at(-1));
    expect(types).to.deep.equal(['missing', 'missing', 'missing', 'missing', 'overrunning', 'failing']);
  });

  it('arrive once each from any number of processes', async () => {
    await declareChannel(database.db, { url: suite.receiver.url });
    await Promise.all([start(), start(), start(), start()]);
    const changes = Array.from({ length: 60 }, (_, number) =>
      transition('opened', { automationId: `00000000-0000-4000-8000-${String(number % 20).padStart(12, '0')}` }),
    );
    await tick(changes);
    await allDelivered(60);
    const ids = suite.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).to.equal(60);
    expect(ids).to.have.lengthOf(60);
  });

  it('are sent again, with the same id, after a process died during an attempt', async () => {
    const { promise: reached, resolve } = Promise.withResolvers<ServerResponse>();
    suite.receiver.answer = (_, response) => resolve(response);
    await declareChannel(database.db, { url: suite.receiver.url });
    const dying = await start();
    await tick([transition('opened')]);
    const response = await reached;
    // The result of the first attempt is lost, as by a kill: the claim runs out.
    await database.db.updateTable('deliveries').set({ attempts: 7 }).execute();
    suite.receiver.answer = (_, response) => response.writeHead(204).end();
    response.destroy();
    await dying.stop();
    expect((await deliveries())[0]?.last_error).to.equal(null);
    await database.db.updateTable('deliveries').set({ next_attempt_at: new Date() }).execute();
    await start();
    await allDelivered(1);
    expect(suite.receiver.received).to.have.lengthOf(2);
    expect(new Set(suite.receiver.received.map(({ headers }) => headers['webhook-id']))).to.have.lengthOf(1);
  });

  it('open a circuit when a receiver fails, and close it when it answers', async () => {
    suite.receiver.answer = (_, response) => response.writeHead(500).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    await database.db
      .updateTable('channels')
      .set({ failing_since: new Date(Date.now() - 1_800_000) })
      .execute();
    const automations = Array.from({ length: 30 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
    await tick(automations.map((automationId) => transition('opened', { automationId })));
    await start();
    const circuit = () =>
      database.db.selectFrom('channels').select(['failing_since', 'open_until']).executeTakeFirstOrThrow();
    const openMs = await until('the circuit opens', async () => {
      const pause = ((await circuit()).open_until?.getTime() ?? 0) - Date.now();
      // Until the attempt has failed, it is a claim of two minutes.
      return pause > 600_000 && pause;
    });
    expect(openMs).to.be.within(1_700_000, 2_000_000);
    expect(suite.receiver.received, 'attempts of a failing channel').to.have.lengthOf(1);
    suite.receiver.answer = (_, response) => response.writeHead(204).end();
    await database.db.updateTable('channels').set({ open_until: new Date() }).execute();
    await database.db.updateTable('deliveries').set({ next_attempt_at: new Date() }).execute();
    await allDelivered(30);
    expect(await circuit()).to.deep.equal({ failing_since: null, open_until: null });
  });

  it('are given up after three days', async () => {
    suite.receiver.answer = (_, response) => response.writeHead(500).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    await tick([transition('opened')]);
    await database.db
      .updateTable('deliveries')
      .set({ created_at: new Date(Date.now() - 73 * 3_600_000) })
      .execute();
    const givenUp = () =>
      figure(registry, 'runledger_notifications_total', { receiver: 'channel', result: 'given_up' });
    const before = await givenUp();
    const sender = await start();
    const [row] = await until('it is given up', async () => {
      const rows = await deliveries();
      return rows[0]?.given_up_at !== null && rows;
    });
    expect(row?.last_error).to.match(/the receiver answered 500|there was no attempt/);
    // Also after an attempt that was under way meanwhile.
    await sender.stop();
    expect((await givenUp()) - before).to.equal(1);
  });

  it('go to the channels that ask for them', async () => {
    const { db } = database;
    const none = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
    await declareChannel(db, { url: suite.receiver.url, name: 'all' });
    await declareChannel(db, {
      url: suite.receiver.url,
      name: 'failing',
      kinds: ['automation.failing', 'automation.resolved'],
    });
    await declareChannel(db, { url: suite.receiver.url, name: 'sales', filter: { owners: ['sales'] } });
    for (const [name, tag] of Object.entries({ nightly: 'nightly', weekly: 'weekly' })) {
      const kinds = ['automation.missing'];
      await declareChannel(db, { url: suite.receiver.url, name, kinds, filter: { tags: ['month-end', tag] } });
    }
    await declareChannel(db, { url: suite.receiver.url, name: 'other', filter: { automations: [none] } });
    await declareChannel(db, {
      url: suite.receiver.url,
      name: 'this',
      filter: { automations: [invoices.toUpperCase()] },
    });
    await tick([
      transition('opened'),
      transition('resolved', { told: ['all', 'this', 'gone'] }),
      transition('opened', { owner: 'sales', kind: 'failing' }),
      transition('opened', { tags: ['finance', 'nightly'] }),
    ]);
    const sent = (await deliveries()).map((row) => `${row.channel_name} ${String(row.event['type'])}`);
    const type = (kind: string): string => `dev.runledger.automation.${kind}`;
    expect(sent.sort()).to.deep.equal(
      [
        ...['all', 'this'].flatMap((name) => ['missing', 'resolved', 'failing'].map((kind) => `${name} ${type(kind)}`)),
        `failing ${type('failing')}`,
        `sales ${type('failing')}`,
        ...['all', 'this', 'nightly'].map((name) => `${name} ${type('missing')}`),
      ].sort(),
    );
  });

  it('report executions up to the watermark, however it moves', async () => {
    const { db } = database;
    await declare(db);
    const kinds = ['execution.started', 'execution.succeeded', 'execution.failed'];
    await declareChannel(db, { url: suite.receiver.url, kinds });
    const begin = Date.now();
    await tick([], begin);
    const run = (executionId: string, kind: 'START' | 'ERROR' | 'END', ms: number) =>
      anEvent({
        automationId: invoices,
        executionId,
        kind,
        createdAt: begin + ms,
        errorId: kind === 'ERROR' ? 'E-1' : '',
      });
    await recordEvents(db, [
      run('good', 'START', 10),
      run('bad', 'START', 10),
      run('bad', 'ERROR', 20),
      run('bad', 'END', 30),
      run('good', 'END', 30),
      run('late', 'END', 40),
      run('late', 'ERROR', 60),
      run('bad', 'ERROR', 70),
      run('later', 'START', 80),
    ]);
    for (const ms of [15, 15, 30, 45, 79]) await tick([], begin + ms);
    const told = (await deliveries()).map(({ event }) => {
      const { execution } = event['data'] as { execution: { execution_id: string } };
      return `${execution.execution_id} ${String(event['type']).replace('dev.runledger.execution.', '')}`;
    });
    expect(told).to.have.members([
      'good started',
      'bad started',
      'bad failed',
      'good succeeded',
      'late succeeded',
      'late failed',
    ]);
    expect(told.indexOf('late succeeded')).to.be.below(told.indexOf('late failed'));
  });

  it('tell the end of a run to whom they told its start, whoever owns the automation by then', async () => {
    const { db } = database;
    const lost = '0190a0b0-0000-7000-8000-000000000002';
    await declare(db);
    await declare(db, { automationId: lost, name: 'undeclared-soon' });
    const kinds = ['execution.started', 'execution.succeeded', 'execution.failed'];
    for (const name of ['billing', 'sales']) {
      await declareChannel(db, { url: suite.receiver.url, name, kinds, filter: { owners: [name] } });
    }
    const begin = Date.now();
    await tick([], begin);
    const run = (automationId: string, executionId: string, kind: 'START' | 'ERROR' | 'END', ms: number) =>
      anEvent({ automationId, executionId, kind, createdAt: begin + ms });
    await recordEvents(db, [run(invoices, 'good', 'START', 10), run(lost, 'bad', 'START', 10)]);
    await tick([], begin + 15);
    await db.updateTable('automations').set({ owner: 'sales' }).where('automation_id', '=', invoices).execute();
    await db.deleteFrom('automations').where('automation_id', '=', lost).execute();
    await recordEvents(db, [
      run(invoices, 'good', 'END', 20),
      run(lost, 'bad', 'ERROR', 20),
      run(invoices, 'of sales', 'START', 20),
      run(invoices, 'of sales', 'END', 30),
    ]);
    await tick([], begin + 40);
    const told = (await deliveries()).map(({ channel_name: name, event }) => {
      const { execution } = event['data'] as { execution: { execution_id: string; state: string } };
      return `${name}: ${execution.execution_id} ${execution.state}`;
    });
    expect(told).to.have.members([
      'billing: good started',
      'billing: bad started',
      'billing: good succeeded',
      'sales: good succeeded',
      'billing: bad failed',
      'sales: of sales started',
      'sales: of sales succeeded',
    ]);
  });

  it('leave out no execution of an organization in the overflow lane, and do not wait for it', async () => {
    const { db } = database;
    for (const organization of ['acme', 'globex']) {
      await declareChannel(db, { organization, url: suite.receiver.url, kinds: ['execution.started'] });
    }
    const begin = Date.now();
    await tick([], begin);
    const start = (organization: string, executionId: string, ms: number) =>
      recordEvents(db, [anEvent({ organization, executionId, kind: 'START', createdAt: begin + ms })]);
    const told = async () =>
      (await deliveries()).map(
        ({ event }) => (event['data'] as { execution: { execution_id: string } }).execution.execution_id,
      );
    await start('acme', 'stored', 10);
    await start('globex', 'other', 40);
    const held = { organizations: ['acme'], until: begin + 20 };
    await tick([], begin + 50, held);
    expect(await told()).to.have.members(['stored', 'other']);
    await start('acme', 'from the lane', 30);
    await tick([], begin + 60, held);
    expect(await told()).to.have.lengthOf(2);
    await tick([], begin + 70);
    await tick([], begin + 80);
    expect(await told()).to.have.members(['stored', 'other', 'from the lane']);
  });
});
