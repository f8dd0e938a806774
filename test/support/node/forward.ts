import { connect, createServer, type NetConnectOpts } from 'node:net';
import { pipeline } from 'node:stream/promises';

/**
 * A program, `node forward.ts FROM TO…`: passes connections on, to one target after the other, as a
 * Service does. An end is `host:port`, or the path of a UNIX socket, which is the same in every
 * network namespace.
 */
function end(text: string): NetConnectOpts {
  const [, host, port] = /^([^/]*):(\d+)$/.exec(text) ?? [];
  return host === undefined ? { path: text } : { host, port: Number(port) };
}

const [from = '', ...to] = process.argv.slice(2);
let next = 0;
const server = createServer((client) => {
  const target = connect(end(to[next++ % to.length] ?? ''));
  // Each end sees its own error.
  pipeline(client, target, client).catch(() => undefined);
});
server.listen(end(from), () => console.log('forwarding'));
