import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { FaultType, Heal, Scene } from './fault.ts';
import type { System } from './system.ts';

const places = ['postgres'];

/** Ends Postgres one way or another; healed, it is started on its data. */
function ending(signal: 'SIGKILL' | 'SIGINT' | 'SIGQUIT', hold: FaultType['hold']): FaultType {
  return {
    places,
    hold,
    inject: async ({ system }) => {
      await system.postgres.kill(signal);
      return () => system.postgres.startAgain();
    },
  };
}

/** Does something again and again until healed. */
function repeating(every: number, work: (system: System) => Promise<void>): (scene: Scene) => Promise<Heal> {
  return async ({ system }) => {
    const ended = new AbortController();
    const loop = (async () => {
      while (!ended.signal.aborted) {
        // Postgres may be struck by the other fault of the pair.
        await work(system).catch(() => undefined);
        await sleep(every, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    })();
    return async () => {
      ended.abort();
      await loop;
    };
  };
}

async function withClient(system: System, options: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await system.connect({ options: `-c default_transaction_read_only=off ${options}` });
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Locks the executions in use from the last to the first; workers go from the first to the last.
 * Its own patience is longer.
 */
async function lockBackwards(system: System): Promise<void> {
  await withClient(system, '-c deadlock_timeout=10min -c statement_timeout=5s', async (client) => {
    const recent = 'select ctid from executions order by last_event_at desc limit 25';
    const { rows } = await client.query<{ organization: string; automation_id: string; execution_id: string }>(
      `select * from executions where ctid = any(array(${recent})) order by organization desc, automation_id desc, execution_id desc`,
    );
    await client.query('begin');
    for (const row of rows) {
      const key = [row.organization, row.automation_id, row.execution_id];
      await client.query(
        'select 1 from executions where organization = $1 and automation_id = $2 and execution_id = $3 for update',
        key,
      );
    }
    await client.query('commit');
  });
}

/** Takes every connection there is, those of the workers first. */
async function takeConnections({ system }: Scene): Promise<Heal> {
  const taken: Client[] = [];
  const takeOne = (): Promise<boolean> =>
    system.connect({ user: 'runledger', application_name: 'hog', options: '' }).then(
      (client) => taken.push(client) > 0,
      () => false,
    );
  const takeAll = async (): Promise<void> => {
    await system.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'runledger' and application_name <> 'hog'`,
    );
    while (await takeOne());
  };
  const stop = await repeating(500, takeAll)({ system } as Scene);
  return async () => {
    await stop();
    await Promise.all(taken.map((client) => client.end()));
  };
}

/** Faults of Postgres beyond those of any process. */
export const postgresFaults: Record<string, FaultType> = {
  'postgres killed': ending('SIGKILL', [0, 10_000]),
  'postgres crashed': ending('SIGQUIT', [0, 5_000]),
  'postgres restarted': ending('SIGINT', [0, 3_000]),
  'postgres read-only': {
    places,
    hold: [500, 10_000],
    inject: async ({ system }) => {
      await system.query('alter system set default_transaction_read_only = on');
      await system.query('select pg_reload_conf()');
      return async () => {
        await system.query('alter system reset default_transaction_read_only');
        await system.query('select pg_reload_conf()');
      };
    },
  },
  'postgres out of connections': { places, hold: [1_000, 10_000], inject: takeConnections },
  'postgres deadlocks': { places, hold: [2_000, 10_000], inject: repeating(5, lockBackwards) },
  'postgres statement time-out': {
    places,
    hold: [1_000, 35_000],
    inject: async ({ system }, { amount }) => {
      const client = await system.connect();
      await client.query('begin');
      await client.query('lock table executions in access exclusive mode');
      // Half of the time the worker's own limit must end the statement, if the lock is held that
      // long.
      const cancel = repeating(700, async () => {
        await system.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where usename = 'runledger' and state = 'active'`,
        );
      });
      const stop = amount < 0.5 ? await cancel({ system } as Scene) : undefined;
      return async () => {
        await stop?.();
        await client.end();
      };
    },
  },
  'postgres disk full': {
    places,
    hold: [500, 10_000],
    unavailable: ({ disk }) => (disk === undefined ? 'no right to mount a small file system' : undefined),
    inject: async ({ system: { disk } }) => {
      await disk?.fill();
      return async () => disk?.makeRoom();
    },
  },
};
