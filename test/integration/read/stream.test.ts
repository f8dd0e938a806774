import { expect } from 'chai';
import { startConsole, readToken } from '../../support/console.ts';
import { suiteConsole, type SomeEvent } from '../../support/reading.ts';
import { StreamReader } from '../../support/stream-reader.ts';

describe('GET /v1/stream/', () => {
  const suite = suiteConsole();
  const open = (options: Parameters<typeof StreamReader.open>[1] = {}): Promise<StreamReader> =>
    StreamReader.open(suite.console.port, options);
  const store = (...events: SomeEvent[]): Promise<unknown> =>
    suite.store(...events.map((event) => ({ createdAt: Date.now(), ...event })));

  it('sends events and changes of executions as they are stored, to the organization only', async () => {
    await store({ description: 'before' });
    using acme = await open();
    using globex = await open({ organization: 'globex' });
    await store({ kind: 'START', description: 'one' }, { organization: 'globex', description: 'two' });
    await store({ kind: 'ERROR', description: 'three', errorId: 'E' });
    await acme.until('both events', () => acme.descriptions.length >= 2);
    await globex.until('its event', () => globex.descriptions.length >= 1);

    expect(acme.descriptions).to.deep.equal(['one', 'three']);
    expect(globex.descriptions).to.deep.equal(['two']);
    const [change] = acme.messages.filter(({ event }) => event === 'execution').slice(-1);
    expect(change?.data).to.deep.include({ execution_id: 'run 1', state: 'failed' });
    const list = (await suite.client.send({ path: '/v1/events/?kind=ERROR' })).json<{ items: object[] }>();
    expect(acme.messages.at(-1)?.data).to.deep.equal(list.items[0]);
    expect(acme.response.headers).to.include({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  });

  it('resumes at another console without a gap or a repeat, from any message', async () => {
    using first = await open();
    const begin = first.lastEventId;
    await store(...Array.from({ length: 5 }, (_, index) => ({ description: `a ${index}` })));
    await first.until('five events', () => first.descriptions.length >= 5);
    await store(
      ...Array.from({ length: 5 }, (_, index) => ({ description: `b ${index}`, executionId: `run ${index}` })),
    );
    await first.until('ten events', () => first.descriptions.length >= 10);
    await suite.console.stop();
    await first.until('the end', () => first.ended);
    // Stored while nobody reads, with the time of an event that was sent long ago.
    await store({ description: 'late', createdAt: Date.now() - 60_000 }, { description: 'new' });

    await using again = await startConsole(suite.database.url);
    const all = [...first.descriptions, 'late', 'new'];
    const ids = first.messages.flatMap(({ event, id }) => (event === 'event' ? [String(id)] : []));
    for (const [seen, lastEventId] of [begin, ...ids].entries()) {
      using resumed = await StreamReader.open(again.port, { lastEventId });
      await resumed.until('the rest', () => resumed.descriptions.length >= all.length - seen);
      expect(resumed.descriptions, `after ${seen}`).to.have.members(all.slice(seen));
      expect(resumed.messages.some(({ event }) => event === 'omitted')).to.equal(false);
    }
    using both = await StreamReader.open(again.port, { lastEventId: begin });
    await both.until('all', () => both.descriptions.length >= all.length);
    await store({ description: 'live' });
    await both.until('more', () => both.descriptions.includes('live'));
    expect(both.descriptions).to.have.lengthOf(all.length + 1);
  }).timeout(60_000);

  it('ends a batch after 2 MiB of texts, and says how many events it left out', async () => {
    using reader = await open();
    await store(...Array.from({ length: 40 }, () => ({ errorDescription: `✓${'x'.repeat(99_999)}` })));
    await reader.until('the newest ones', () => reader.descriptions.length > 0);
    expect(reader.messages[0]).to.deep.include({ event: 'omitted', data: { count: 19 } });
    await reader.until('all of them', () => reader.descriptions.length === 21);
  });

  it('rejects an id of another organization, a changed one, and one that is none', async () => {
    using reader = await open();
    const place = JSON.stringify({ since: '5:10:10', newestAt: '0001-01-01T00:00:00Z' });
    const madeUp = Buffer.concat([Buffer.alloc(28), Buffer.from(place)]).toString('base64url');
    for (const [headers, what] of [
      [{ token: readToken('globex'), 'last-event-id': reader.lastEventId }, 'of another organization'],
      [{ 'last-event-id': `${reader.lastEventId.slice(0, -4)}AAAA` }, 'changed'],
      [{ 'last-event-id': '7' }, 'none'],
      [{ 'last-event-id': madeUp }, 'made by hand'],
    ] as const) {
      const answer = await suite.client.send({ path: '/v1/stream/', headers });
      expect(answer.status, what).to.equal(400);
      expect(answer.json<{ errors: object[] }>().errors[0]).to.include({ header: 'Last-Event-ID' });
    }
  });

  it("does not show the database's transaction counter, which every organization moves", async () => {
    using reader = await open();
    await store({ description: 'one' });
    await reader.until('an event', () => reader.descriptions.length > 0);
    const ids = [reader.lastEventId, ...reader.messages.flatMap(({ id }) => id ?? [])];
    for (const id of ids) expect(Buffer.from(id, 'base64url').toString('latin1')).not.to.match(/\d{3}|since/);
  });

  it('answers HEAD without opening a stream', async () => {
    const answer = await suite.client.send({ method: 'HEAD', path: '/v1/stream' });
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.equal('text/event-stream');
  });
});

describe('streams under limits', () => {
  const suite = suiteConsole({ STREAMS_PER_TOKEN: '2', STREAM_EVENTS_PER_SECOND: '3' });

  it('are as many as STREAMS_PER_TOKEN for each token', async () => {
    using first = await StreamReader.open(suite.console.port);
    using second = await StreamReader.open(suite.console.port);
    const third = await suite.client.send({ path: '/v1/stream/' });
    expect(third.status).to.equal(429);
    expect(third.headers['retry-after']).to.equal('1');
    using other = await StreamReader.open(suite.console.port, { organization: 'globex' });
    expect([first, second, other].map(({ ended }) => ended)).to.deep.equal([false, false, false]);
    const metrics = await suite.console.telemetry.registry.metrics();
    expect(metrics).to.match(/runledger_streams_open\{process="console"\} 3\n/);
  });

  it('show the newest events of a second, and say how many they left out', async () => {
    using reader = await StreamReader.open(suite.console.port);
    const now = Date.now();
    await suite.store(
      ...Array.from({ length: 10 }, (_, index) => ({ description: `${index}`, createdAt: now + index })),
    );
    await reader.until('events', () => reader.descriptions.length >= 3);
    expect(reader.messages[0]).to.deep.include({ event: 'omitted', data: { count: 7 } });
    expect(reader.descriptions).to.deep.equal(['7', '8', '9']);
  });
});
