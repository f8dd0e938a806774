import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createKeyPair, type KeyPair, type Place } from '../certificate.ts';

/** A request that a receiver got. */
export interface Received {
  headers: Record<string, string>;
  body: string;
}

/** How a receiver answers; the default is 204. */
export type Answer = (received: Received, response: ServerResponse) => void;

/** A program that receives channels over HTTPS. */
export interface Receiver extends AsyncDisposable {
  url: string;
  port: number;
  /** Its certificate. */
  ca: string;
  /** For another receiver with the same certificate. */
  pair: KeyPair;
  received: Received[];
  /** Answers from now on. */
  answer: Answer;
}

const accept: Answer = (_, response) => response.writeHead(204).end();

export async function startReceiver(place: Partial<Place> = {}): Promise<Receiver> {
  const { host = '127.0.0.1', pair = await createKeyPair('receiver.test') } = place;
  const { cert, key } = pair;
  const received: Received[] = [];
  const server = createHttpsServer({ cert, key }, (request, response) => {
    void take(request).then((got) => {
      received.push(got);
      receiver.answer(got, response);
    });
  });
  const port = await listen(server, host, place.port);
  const receiver: Receiver = {
    url: `https://${place.host ?? 'localhost'}:${port}/hook`,
    port,
    ca: cert,
    pair,
    received,
    answer: accept,
    [Symbol.asyncDispose]: () => close(server),
  };
  return receiver;
}

/** An HTTP server that keeps the bodies of what it gets: the receiver of an Alertmanager. */
export async function startPlainReceiver(): Promise<Pick<Receiver, 'url' | 'received'> & AsyncDisposable> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void take(request).then((got) => {
      received.push(got);
      response.end();
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/`, received, [Symbol.asyncDispose]: () => close(server) };
}

async function take(request: IncomingMessage): Promise<Received> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return { headers: textsOf(request.headers), body };
}

function textsOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

async function listen(server: Server | HttpsServer, host = '127.0.0.1', port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function close(server: Server | HttpsServer): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
