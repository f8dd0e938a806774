import { expect } from 'chai';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lookUp, type Names } from '../../../internal/controller/notify/look-up.ts';
import { temporaryFolder } from '../../support/export.ts';

type Found = { address: string; family: number }[];

/** A name server that knows one name, with an address of IPv4. */
async function nameServer(known: string, address: string): Promise<AsyncDisposable & { address: string }> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address: from }) => {
    const end = question.indexOf(0, 12) + 5;
    // Before each label is its length, which is no letter.
    const name = question
      .subarray(13, end - 5)
      .toString('latin1')
      .replaceAll(/[^a-z]/g, '.');
    const knows = name === known && question.readUInt16BE(end - 4) === 1;
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]);
    const reply = Buffer.concat([question.subarray(0, end), ...(knows ? [answer] : [])]);
    // An answer; no such name, unless it is known; no further records.
    reply.writeUInt16BE(name === known ? 0x8180 : 0x8183, 2);
    reply.writeUInt16BE(knows ? 1 : 0, 6);
    reply.writeUInt32BE(0, 8);
    socket.send(reply, port, from);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function find(name: string, names: Names): Promise<Found> {
  return new Promise((resolve, reject) => {
    lookUp(names)(name, { all: true }, (error, found) => (error ? reject(error) : resolve(found as Found)));
  });
}

describe('the names of receivers', () => {
  it('are those of the hosts file, of name servers, and of the search domains', async () => {
    await using folder = await temporaryFolder();
    const [hosts, resolvConf] = [join(folder.path, 'hosts'), join(folder.path, 'resolv.conf')];
    await writeFile(hosts, '127.0.0.1 localhost # this host\n::1 localhost\n10.0.0.7 a.test Hooks.Test\n');
    await writeFile(resolvConf, 'nameserver 192.0.2.1\nsearch svc.test cluster.test\noptions ndots:5\n');
    await using server = await nameServer('receiver.cluster.test', '10.1.2.3');
    const names = { hosts, resolvConf, servers: [server.address] };
    expect(await find('localhost', names)).to.deep.equal([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await find('hooks.test', names)).to.deep.equal([{ address: '10.0.0.7', family: 4 }]);
    const receiver = [{ address: '10.1.2.3', family: 4 }];
    expect(await find('receiver.cluster.test', names)).to.deep.equal(receiver);
    expect(await find('receiver', names)).to.deep.equal(receiver);
    const unknown = await find('unknown.test', names).catch((error: unknown) => error);
    expect(unknown).to.deep.include({ code: 'ENOTFOUND' });
  });
});
