import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readCheckpoint } from '../../internal/ledger/checkpoint.ts';
import { isConsistent } from '../../internal/ledger/proofs.ts';

/** A witness (C2SP tlog-witness) that cosigns every log. */
export interface WitnessServer extends AsyncDisposable {
  /** Its entry in LEDGER_WITNESSES. */
  url: URL;
  publicKey: string;
  name: string;
  /** The status of each answer. */
  statuses: number[];
  /** True answers with 503. */
  away: boolean;
  /** The organization of a log that it does not know. */
  unknown: string;
  /** When it signs, in ms since the Unix epoch; now unless set. */
  time?: number;
  /** True signs another time than it says. */
  lies: boolean;
  /** Forgets all logs. */
  forget(): void;
  /** Its cosignature of the first checkpoint of a log. */
  cosign(checkpoint: string): Promise<string>;
}

export async function startWitness(name = 'witness.example'): Promise<WitnessServer> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const tagged = Buffer.concat([Buffer.from([4]), raw]);
  const id = createHash('sha256').update(`${name}\n`).update(tagged).digest().subarray(0, 4);
  const heads = new Map<string, { size: number; root: Buffer }>();

  const answer = (body: string): { status: number; text: string } => {
    if (witness.away) return { status: 503, text: 'away' };
    const [head = '', ...rest] = body.split('\n\n');
    const note = rest.join('\n\n');
    const [first = '', ...hashes] = head.split('\n');
    const old = Number(/^old (\d+)$/.exec(first)?.[1]);
    const { origin, ...next } = readCheckpoint(note);
    if (origin.endsWith(`/${witness.unknown}`)) return { status: 404, text: 'unknown log' };
    if (old > next.size) return { status: 400, text: 'old is too large' };
    const known = heads.get(origin) ?? { size: 0, root: Buffer.alloc(0) };
    if (old !== known.size) return { status: 409, text: `${known.size}\n` };
    const proof = hashes.map((hash) => Buffer.from(hash, 'base64'));
    if (old === next.size && !known.root.equals(next.root)) return { status: 409, text: `${known.size}\n` };
    if (!isConsistent(known, next, proof)) return { status: 422, text: 'the proof is wrong' };
    heads.set(origin, next);
    const time = BigInt(Math.floor((witness.time ?? Date.now()) / 1_000));
    const signed = `cosignature/v1\ntime ${time}\n${note.slice(0, note.indexOf('\n\n') + 1)}`;
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(witness.lies ? time + 1n : time);
    const bytes = Buffer.concat([id, stamp, sign(null, Buffer.from(signed), privateKey)]);
    return { status: 200, text: `— ${name} ${bytes.toString('base64')}\n` };
  };

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { status, text: sent } = request.url === '/log/add-checkpoint' ? answer(body) : { status: 404, text: '' };
      witness.statuses.push(status);
      response.writeHead(status).end(sent);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const key = `${name}+${id.toString('hex')}+${tagged.toString('base64')}`;
  const witness: WitnessServer = {
    url: new URL(`http://127.0.0.1:${port}/log/#${key}`),
    publicKey: key,
    name,
    statuses: [],
    away: false,
    lies: false,
    unknown: '',
    forget: () => heads.clear(),
    cosign: async (checkpoint) => {
      const sent = { method: 'POST', body: `old 0\n\n${checkpoint}` };
      return (await fetch(new URL('add-checkpoint', witness.url), sent)).text();
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return witness;
}
