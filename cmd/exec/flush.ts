import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientSettings } from '../../internal/config/client-settings.ts';
import { sendBacklog } from '../../internal/outbox/backlog.ts';
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
  for (const spool of spools) {
    const { send, sendMany } = delivery;
    sent += (await sendBacklog({ spool, send, sendMany }, await spool.waiting())).sent;
  }
  delivery.close();
  const waiting = await total(spools, async (spool) => (await spool.waiting()).length);
  const refused = await total(spools, (spool) => spool.refused());
  process.stdout.write(`${sent} sent, ${waiting} waiting, ${refused} refused in ${folder}\n`);
  for (const problem of problems) process.stderr.write(`runledger: ${problem}\n`);
  process.exitCode = waiting > 0 ? 1 : 0;
}

async function total(spools: readonly Spool[], count: (spool: Spool) => Promise<number>): Promise<number> {
  const counts = await Promise.all(spools.map(count));
  return counts.reduce((sum, each) => sum + each, 0);
}
