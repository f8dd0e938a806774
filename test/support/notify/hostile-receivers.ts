import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startReceiver, type Receiver } from './receiver.ts';

/** A receiver that holds each attempt for as long as it can. */
export interface HostileReceiver extends AsyncDisposable {
  url: string;
  /** A name server that knows the address of the receiver, or should. */
  nameServer?: string;
}

type Pair = Receiver['pair'];
type Start = (pair: Pair) => Promise<HostileReceiver>;

async function answering(pair: Pair, answer: Receiver['answer']): Promise<Receiver> {
  const receiver = await startReceiver({ pair });
  receiver.answer = answer;
  return receiver;
}

/** Sends a byte now and then, until the other side has enough of it. */
function drip(response: Parameters<Receiver['answer']>[1]): void {
  const timer = setInterval(() => response.write('.'), 100);
  response.once('close', () => clearInterval(timer));
}

/** The ways in which a receiver can waste time, with a certificate. */
export const hostileReceivers: Record<string, Start> = {
  'never answers': (pair) => answering(pair, () => undefined),
  'drips its answer': (pair) =>
    answering(pair, (_, response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\nX-Drip: ');
      const timer = setInterval(() => response.socket?.write('.'), 100);
      response.once('close', () => clearInterval(timer));
    }),
  'answers 200 and drips a body': (pair) =>
    answering(pair, (_, response) => {
      response.writeHead(200);
      drip(response);
    }),
  'accepts connections and says nothing': async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sockets = new Set<{ destroy: () => void }>();
    server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
    const { port } = server.address() as AddressInfo;
    return {
      url: `https://127.0.0.1:${port}/`,
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
  'has a name whose server says nothing': async () => {
    const server = createSocket('udp4');
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: 'https://silent.example/',
      nameServer: `127.0.0.1:${server.address().port}`,
      [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
    };
  },
};
