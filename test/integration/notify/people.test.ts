import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { declareChannel, transition } from '../../support/notify/expectations.ts';
import { startReceiver, type Received } from '../../support/notify/receiver.ts';
import { suiteChannels } from '../../support/notify/suite-channels.ts';
import { vendorFormats } from '../../support/notify/vendor-formats.ts';
import { until } from '../../support/until.ts';

const automation = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

describe('channels to people', () => {
  const suite = suiteChannels();
  const { database, start, tick, deliveries, allDelivered } = suite;

  const declareSlack = (given: Partial<Parameters<typeof declareChannel>[1]> = {}) =>
    declareChannel(database.db, { type: 'slack', url: '', name: 'chat', ...given });
  const begin = (given: Parameters<typeof start>[0] = {}) => start({ secretsOf: () => [suite.receiver.url], ...given });
  const many = (count: number, given: Parameters<typeof transition>[1] = {}) =>
    Array.from({ length: count }, (_, index) => transition('opened', { automationId: automation(index), ...given }));
  const texts = (): string[] => suite.receiver.received.map(({ body }) => (JSON.parse(body) as { text: string }).text);

  it('tell in one message what broke together, and in one that it is right again', async () => {
    await declareSlack();
    await begin();
    const broken = many(60);
    await tick(broken);
    await allDelivered(60);
    await tick(broken.map(({ alert }) => transition('resolved', { ...alert, resolvedAt: Date.now(), told: ['chat'] })));
    await allDelivered(120);
    expect(texts()).to.deep.equal(['🔴 acme: 60 automations need a look', '✅ acme: 60 right again']);
    for (const { body } of suite.receiver.received) expect(vendorFormats.slack(body)).to.deep.equal([]);
  });

  it('are told each thing once by any number of processes', async () => {
    await declareSlack();
    await Promise.all([begin(), begin(), begin()]);
    for (let round = 0; round < 5; round += 1) await tick(many(1, { automationId: automation(round) }));
    await allDelivered(5);
    const told = suite.receiver.received.flatMap(({ body }) => body.match(/Nothing started at 02:30/g) ?? []);
    expect(told).to.have.lengthOf(5);
  });

  it('wait as long as a busy chat asks, and tell then what happened meanwhile', async () => {
    const answers: ((response: Parameters<typeof suite.receiver.answer>[1]) => void)[] = [
      (response) => response.writeHead(429, { 'Retry-After': '1.5' }).end('rate_limited'),
    ];
    suite.receiver.answer = (_: Received, response) => {
      const answer = answers.shift();
      if (answer === undefined) response.writeHead(200).end('ok');
      else answer(response);
    };
    await declareSlack();
    await begin();
    const before = Date.now();
    await tick(many(1));
    await until('the chat was busy', async () => (await deliveries())[0]?.last_status === 429);
    const channel = await database.db.selectFrom('channels').selectAll().executeTakeFirstOrThrow();
    expect(channel.failing_since, 'a busy chat is not failing').to.equal(null);
    await tick(many(2, { kind: 'failing' }));
    await allDelivered(3);
    expect(Date.now() - before).to.be.at.least(1_500);
    expect(texts().at(-1)).to.equal('🔴 acme: 3 automations need a look');
    expect(suite.receiver.received).to.have.lengthOf(2);
  });

  it('pause when the chat says that no request is left', async () => {
    suite.receiver.answer = (_, response) =>
      response.writeHead(204, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset-After': '30' }).end();
    await declareSlack({ type: 'discord' });
    await begin();
    await tick(many(1));
    await allDelivered(1);
    const { open_until: rest } = await database.db.selectFrom('channels').selectAll().executeTakeFirstOrThrow();
    expect((rest?.getTime() ?? 0) - Date.now()).to.be.within(20_000, 30_000);
  });

  it('give up what the chat refuses for good, and show its answer', async () => {
    suite.receiver.answer = (_, response) => response.writeHead(404).end('no_service');
    await declareSlack();
    await begin();
    await tick(many(2));
    const rows = await until('both are given up', async () => {
      const all = await deliveries();
      return all.every(({ given_up_at: end }) => end !== null) && all;
    });
    expect(rows.map((row) => [row.last_status, row.last_error, row.attempts])).to.deep.equal(
      rows.map(() => [404, 'the receiver answered 404: no_service', 1]),
    );
  });

  it('are left alone in their quiet hours, and hear of it all when these end', async () => {
    const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    await declareSlack({ quietHours: { from: at(-1), to: at(1), timeZone: 'UTC' } });
    await declareSlack({ name: 'awake', quietHours: { from: at(1), to: at(-1), timeZone: 'UTC' } });
    await begin();
    const broken = many(1);
    await tick(broken);
    await until('the other channel is told', () => suite.receiver.received.length === 1);
    await tick(broken.map(({ alert }) => transition('resolved', { ...alert, resolvedAt: Date.now(), told: ['chat'] })));
    expect((await deliveries()).filter((row) => row.channel_name === 'chat').map((row) => row.attempts)).to.deep.equal([
      0, 0,
    ]);
    const quietHours = JSON.stringify({ from: at(1), to: at(-1), timeZone: 'UTC' });
    await database.db.updateTable('channels').set({ quiet_hours: quietHours }).execute();
    await allDelivered(3);
    expect(texts().at(-1)).to.equal('🔴 acme: 1 automation needs a look, 1 right again');
  });

  it('begin at once whatever the others do: one slow, one dead, one busy, and each alert is told once', async function () {
    // ALERTS=10000 is the bar of docs/design/notifications.md.
    const count = Number(process.env['ALERTS'] ?? 500);
    this.timeout(120_000 + 20 * count);
    await using slow = await startReceiver({ pair: suite.receiver.pair });
    await using busy = await startReceiver({ pair: suite.receiver.pair });
    const held: ServerResponse[] = [];
    slow.answer = (_, response) => void held.push(response);
    busy.answer = (_, response) => response.writeHead(429, { 'Retry-After': '3600' }).end();
    const urls: Record<string, string> = { slow: slow.url, busy: busy.url, dead: 'https://localhost:1/' };
    const others = ['a', 'b', 'c'];
    for (const name of [...Object.keys(urls), ...others]) await declareSlack({ name });
    await begin({
      secretsOf: ({ name }) => [urls[name] ?? suite.receiver.url],
      timings: { intervalMs: 1_000, timeoutMs: 10_000, firstPauseMs: 5_000 },
    });
    const broken = many(count);
    await tick(broken);
    const before = performance.now();
    await until('the others are told', () => suite.receiver.received.length >= others.length, 60_000);
    const ms = performance.now() - before;
    if (count > 500) console.log(`${count} alerts: begun after ${Math.round(ms)} ms`);
    // Looks are a second apart; the rest is for a busy machine.
    expect(ms).to.be.below(10_000);
    await until('all are told', async () => {
      const { told } = await database.db
        .selectFrom('deliveries')
        .select((row) => row.fn.count<string>('id').as('told'))
        .where('channel_name', 'in', others)
        .where('delivered_at', 'is not', null)
        .executeTakeFirstOrThrow();
      return Number(told) === count * others.length;
    });
    expect(texts()).to.deep.equal(others.map(() => `🔴 acme: ${count} automations need a look`));
    for (const response of held.splice(0)) response.writeHead(200).end('ok');
    await until('the slow one is told', async () => {
      const row = await database.db
        .selectFrom('deliveries')
        .select('delivered_at')
        .where('channel_name', '=', 'slow')
        .where('delivered_at', 'is', null)
        .executeTakeFirst();
      return row === undefined;
    });
    expect([slow.received.length, busy.received.length]).to.deep.equal([1, 1]);
  });
});
