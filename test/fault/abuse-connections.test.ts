import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { p99OfGoodClients, slowdown } from '../support/fault/latency.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import type { System } from '../support/fault/system.ts';

describe('abuse of connections', () => {
  let system: System;
  let port: number;
  /** The time until each of two requests without an end was cut off, in ms. */
  let cutOff: Promise<number[]>;

  before(async () => {
    system = await sharedSystem();
    port = system.pod('ingest-1').apiPort;
    const [headers, body] = await open(2);
    headers?.write('POST /v1/register/ HTTP/1.1\r\nHost: x\r\n');
    body?.write(
      'POST /v1/register/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
    );
    const begun = performance.now();
    const timeOf = (socket: Socket | undefined): Promise<number> =>
      new Promise((resolve) => socket?.resume().once('close', () => resolve(performance.now() - begun)));
    // It takes a while: other tests run meanwhile.
    cutOff = Promise.all([headers, body].map(timeOf));
  });

  async function open(count: number): Promise<Socket[]> {
    const sockets: Socket[] = [];
    while (sockets.length < count) {
      const some = Array.from({ length: Math.min(200, count - sockets.length) }, () =>
        connect({ port, host: '127.0.0.1' }),
      );
      for (const socket of some) socket.on('error', () => undefined);
      await Promise.all(some.map((socket) => once(socket, 'connect')));
      sockets.push(...some);
    }
    return sockets;
  }

  it('1,000 half-open requests: good clients get answers within twice their usual p99', async () => {
    const ratio = await slowdown(port, 2, async () => {
      const sockets = await open(1_000);
      for (const socket of sockets) socket.write('POST /v1/register/ HTTP/1.1\r\nHost: x\r\n');
      const drip = setInterval(() => {
        for (const socket of sockets) socket.write('X-Slow: 1\r\n');
      }, 1_000);
      return () => {
        clearInterval(drip);
        for (const socket of sockets) socket.destroy();
      };
    });
    expect(ratio).to.be.below(2);
  });

  it('10,000 idle keep-alive connections: good clients get answers, and each idle one still works', async () => {
    const idle = await open(10_000);
    const usable = idle.filter((_, index) => index % 500 === 0);
    expect(await p99OfGoodClients(port)).to.be.below(1_000);
    for (const socket of usable) {
      socket.write('GET /v1/ping/ HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).to.match(/^HTTP\/1\.1 401 /);
    }
    for (const socket of idle) socket.destroy();
    expect(system.crashes).to.equal(0);
  });

  it('a request without an end is cut off within 20 s, headers or body', async () => {
    expect(Math.max(...(await cutOff))).to.be.below(20_000);
  });
});
