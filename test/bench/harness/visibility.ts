import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** Between two looks, in ms: what is measured is at most this and one query too long. */
const interval = 1;

/**
 * Looks for new events until told to stop, and resolves with the time of each from its `created_at`
 * until another session sees it, in ms. The clock is the same: callers, ingest and this run on one
 * machine.
 */
export async function timesUntilVisible(database: string, stopped: AbortSignal): Promise<number[]> {
  const client = new Client({ connectionString: database });
  await client.connect();
  const text = `select id, created_at from events where organization = 'acme' and created_at > now() - interval '2 s'`;
  const seen = new Map<string, number>();
  try {
    while (!stopped.aborted) {
      const { rows } = await client.query<{ id: string; created_at: Date }>({ name: 'look', text });
      const now = performance.timeOrigin + performance.now();
      for (const { id, created_at } of rows) if (!seen.has(id)) seen.set(id, now - created_at.getTime());
      await sleep(interval);
    }
  } finally {
    await client.end();
  }
  return [...seen.values()];
}
