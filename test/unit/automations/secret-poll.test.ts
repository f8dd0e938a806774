import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SecretPoll } from '../../../internal/controller/declarations/secret-poll.ts';
import { until } from '../../support/until.ts';

/** An API server that answers one request at a time, when the test says so. */
async function slowApiServer() {
  const asked: string[] = [];
  let answer: (() => void) | undefined;
  const server = createServer(({ url = '' }, response: ServerResponse) => {
    asked.push(url.replace(/^\/api\/v1\/namespaces\//, '').replace('/secrets/', '/'));
    answer = () => response.writeHead(404, { connection: 'close' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    access: {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      namespace: undefined,
      authenticate: async () => undefined,
      close: async () => undefined,
    },
    asked,
    /** Waits for a request, and answers it. */
    async answerNext(count: number): Promise<void> {
      await until(`request ${count}`, () => asked.length === count && answer !== undefined);
      answer?.();
      answer = undefined;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('the Secrets of channels', () => {
  it('are read in turns of namespaces, and new ones before those that are known', async () => {
    await using api = await slowApiServer();
    const end = new AbortController();
    const poll = new SecretPoll(60_000, 10_000);
    const hostile = ['hostile/1', 'hostile/2', 'hostile/3', 'hostile/4'] as const;
    poll.want(new Set([...hostile, 'quiet/1', 'quiet/2']));
    const following = poll.follow(api.access, () => undefined, end.signal);
    await api.answerNext(1);
    await api.answerNext(2);
    poll.want(new Set([...hostile, 'quiet/1', 'quiet/2', 'new/1']));
    for (let count = 3; count <= 7; count += 1) await api.answerNext(count);
    await until('the last one is known', () => poll.keysOf('hostile', '4') !== undefined);
    end.abort();
    await following.catch(() => undefined);
    expect(api.asked.slice(0, 2)).to.deep.equal(['hostile/1', 'quiet/1']);
    // The third was asked for before the new one was wanted.
    expect(api.asked.indexOf('new/1')).to.be.at.most(3);
    expect(api.asked.indexOf('quiet/2')).to.be.below(api.asked.indexOf('hostile/4'));
  });
});
