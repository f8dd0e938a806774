import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientSettings } from '../../internal/config/client-settings.ts';
import { Spool } from '../../internal/outbox/spool.ts';
import { Delivery } from './delivery.ts';
import { receiverFolder } from './report.ts';
import { parseOptions } from './usage.ts';

/** `runledger flush`: sends what waits in the spool now. Exit code 1 if something still waits. */
export async function flush(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    all: { type: 'boolean', default: false },
    spool: { type: 'string' },
    url: { type: 'string' },
    'token-file': { type: 'string' },
    'ca-file': { type: 'string' },
  });
  const settings = new ClientSettings({
    RUNLEDGER_URL: values.url,
    RUNLEDGER_TOKEN_FILE: values['token-file'],
    RUNLEDGER_CA_FILE: values['ca-file'],
    RUNLEDGER_SPOOL: values.spool,
  });
  settings.ingest();
  const problems = new Set<string>();
  const delivery = new Delivery(settings, (problem) => problems.add(problem));
  const { folder, ...bounds } = settings.spool();
  const receivers = values.all ? await readdir(folder).catch(() => []) : [receiverFolder(settings)];
  const spools = receivers.map((receiver) => new Spool({ folder: join(folder, receiver), ...bounds }));
  let sent = 0;
  for (const spool of spools) sent += await sendAll(spool, delivery);
  delivery.close();
  const waiting = await total(spools, async (spool) => (await spool.waiting()).length);
  const refused = await total(spools, (spool) => spool.refused());
  process.stdout.write(`${sent} sent, ${waiting} waiting, ${refused} refused in ${folder}\n`);
  for (const problem of problems) process.stderr.write(`runledger: ${problem}\n`);
  process.exitCode = waiting > 0 ? 1 : 0;
}

/** Sends events, oldest first, until an attempt fails. Resolves with how many are recorded. */
async function sendAll(spool: Spool, delivery: Delivery): Promise<number> {
  let sent = 0;
  for (const name of await spool.waiting()) {
    const event = await spool.read(name);
    const attempt = event === undefined ? 'refused' : await delivery.send(event);
    if (attempt === 'failed') return sent;
    if (attempt === 'refused') await spool.setAside(name);
    else await spool.remove(name);
    if (attempt === 'recorded') sent += 1;
  }
  return sent;
}

async function total(spools: readonly Spool[], count: (spool: Spool) => Promise<number>): Promise<number> {
  const counts = await Promise.all(spools.map(count));
  return counts.reduce((sum, each) => sum + each, 0);
}
