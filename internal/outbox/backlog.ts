import type { Outgoing, Send, SendMany } from './outgoing.ts';
import type { Spool } from './spool.ts';

export interface BacklogOptions {
  readonly spool: Pick<Spool, 'read' | 'remove' | 'setAside'>;
  readonly send: Send;
  readonly sendMany: SendMany;
}

/** Most events of one request. */
const mostAtOnce = 100;

/**
 * Sends events of the spool by their names, many in one request, until an attempt fails or `isOver`
 * says so. Those that such a request does not record are sent one by one. Resolves with how many
 * are recorded, and whether an attempt has failed.
 */
export async function sendBacklog(
  { spool, send, sendMany }: BacklogOptions,
  names: readonly string[],
  isOver = (): boolean => false,
): Promise<{ sent: number; failed: boolean }> {
  let sent = 0;
  for (let begin = 0; begin < names.length && !isOver(); begin += mostAtOnce) {
    const batch = await readAll(spool, names.slice(begin, begin + mostAtOnce));
    const recorded = batch.length > 1 ? await sendMany(batch.map(({ event }) => event)) : new Set<string>();
    const done = batch.filter(({ event }) => recorded.has(event.key));
    for (const { name } of done) await spool.remove(name);
    sent += done.length;
    for (const { name, event } of batch.filter((one) => !done.includes(one))) {
      if (isOver()) return { sent, failed: false };
      const attempt = await send(event);
      if (attempt === 'failed') return { sent, failed: true };
      await (attempt === 'recorded' ? spool.remove(name) : spool.setAside(name));
      if (attempt === 'recorded') sent += 1;
    }
  }
  return { sent, failed: false };
}

/** Sets aside what is damaged. Leaves out what another process has removed meanwhile. */
async function readAll(
  spool: BacklogOptions['spool'],
  names: readonly string[],
): Promise<{ name: string; event: Outgoing }[]> {
  const found: { name: string; event: Outgoing }[] = [];
  for (const name of names) {
    const event = await spool.read(name);
    if (event === undefined) await spool.setAside(name);
    else found.push({ name, event });
  }
  return found;
}
