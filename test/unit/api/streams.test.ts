import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import type { StoredEvent } from '../../../internal/record/stored-event.ts';
import type { Queries } from '../../../internal/record/queries.ts';
import type { StoredSince } from '../../../internal/record/stream.ts';
import { ReadRoom } from '../../../internal/readapi/read-room.ts';
import { StreamIds } from '../../../internal/readapi/stream/stream-ids.ts';
import { Streams, type Reader } from '../../../internal/readapi/stream/streams.ts';
import { streamMetrics } from '../../../internal/readapi/stream/stream-metrics.ts';
import { Registry } from '../../../internal/kit/telemetry/metrics.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

const position = { since: '10:10:', newestAt: '2026-11-20T12:00:00.000Z' };
const nothing: StoredSince = { events: [], executions: [], omitted: 0, position };
const key = Buffer.alloc(32);
const reader: Reader = {
  organization: 'acme',
  ids: new StreamIds(key),
  seen: undefined,
  mayRead: () => true,
};

/** Events of 100,000 characters each. */
function largeEvents(count: number): StoredSince {
  const event = { id: 'x', automation: 'a', execution_id: 'e', description: 'y'.repeat(100_000) } as StoredEvent;
  return { ...nothing, events: Array.from({ length: count }, () => ({ event, position })) };
}

describe('streams', () => {
  let polls: (StoredSince | Error)[];
  let streams: Streams;
  let startStreams: (tickMs: number) => Promise<void>;
  let responses: ServerResponse[];
  let server: ReturnType<typeof createServer>;
  let client: Socket;
  let received: string;

  beforeEach(async () => {
    polls = [nothing];
    responses = [];
    received = '';
    const poll = (): Promise<StoredSince> => {
      const next = polls.shift() ?? nothing;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    };
    const record = {
      pollStored: poll,
      namesOf: () => Promise.resolve(new Map()),
    } as Partial<Queries> as Queries;
    const metrics = streamMetrics(new Registry());
    const { logger } = recordingLogger();
    startStreams = async (tickMs) => {
      streams = new Streams({
        record,
        room: new ReadRoom(),
        key: () => Promise.resolve(key),
        eventsPerSecond: 200,
        metrics,
        logger,
        pollMs: 5,
        tickMs,
      });
      await streams.start();
    };
    await startStreams(20);
    server = createServer((_, response) => {
      response.flushHeaders();
      responses.push(response);
    }).listen(0);
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port);
    client.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the request', () => responses[0]);
  });
  afterEach(async () => {
    client.destroy();
    await streams.stop();
    server.close();
    await once(server, 'close');
  });
  const open = (given: Partial<Reader> = {}): void => {
    const [response] = responses;
    if (response !== undefined) streams.open(response, { ...reader, ...given });
  };
  const receives = (pattern: RegExp): Promise<true> =>
    until(String(pattern), () => (pattern.test(received) ? true : undefined));

  it('tell idle readers again from where to resume', async () => {
    open();
    await receives(/(id: \S+\n\n[^]*){3}/);
  });

  it('continue after the record could not be read', async () => {
    polls.push(new Error('away'), { ...nothing, omitted: 7 });
    open();
    await receives(/event: omitted\ndata: \{"count":7\}/);
  });

  it('say that they cannot tell what a reader missed', async () => {
    polls.push(new Error('too long'));
    open({ seen: position });
    await receives(/event: omitted\ndata: \{"count":null\}/);
  });

  it('drop the oldest events of a slow reader, and say how many', async () => {
    // With short ticks a busy machine counts as a reader that takes nothing any more.
    await streams.stop();
    await startStreams(60_000);
    client.pause();
    let read = 0;
    open();
    // The kernel takes more or less, as it remembers of other connections.
    await until('a full queue', () => {
      if (responses[0]?.writableNeedDrain === true) return true;
      if (polls.length > 0) return undefined;
      polls.push(largeEvents(100));
      read += 100;
      return undefined;
    });
    expect(responses[0]?.writableLength).to.be.lessThan(1024 * 1024);
    client.resume();
    const count = (): number => {
      const omitted = Array.from(received.matchAll(/"count":(\d+)/g), ([, number]) => Number(number));
      return omitted.reduce((sum, number) => sum + number, received.split('event: event').length - 1);
    };
    await until('all events, sent or left out', () => (count() === read ? true : undefined));
    expect(received).to.match(/"count":[1-9]/);
  });

  it('end when a reader takes nothing any more', async () => {
    client.pause();
    open();
    // The kernel may take all of one poll, so there are more until the stream ends.
    await until('the end', () => {
      if (responses[0]?.destroyed === true) return true;
      if (polls.length === 0) polls.push(largeEvents(100));
      return undefined;
    });
  });

  it('end when the token is no longer valid', async () => {
    open({ mayRead: () => false });
    await receives(/\r\n0\r\n\r\n$/);
  });

  it('end when the console stops', async () => {
    open();
    await receives(/id: /);
    await streams.stop();
    await receives(/\r\n0\r\n\r\n$/);
    expect(streams.stopped).to.equal(true);
  });
});
