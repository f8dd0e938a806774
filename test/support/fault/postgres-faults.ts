import type { Client } from 'pg';
import { Repeating } from '../../../internal/kit/async/repeating.ts';
import type { FaultType, Heal, Scene } from './fault.ts';
import type { System } from './system.ts';

const places = ['postgres'];

/** Ends Postgres; healed, it is started on its data. */
function ended(signal: 'SIGKILL' | 'SIGINT' | 'SIGQUIT', hold: FaultType['hold']): FaultType {
  return {
    places,
    hold,
    inject: async ({ system: { postgres } }) => {
      await postgres.kill(signal);
      return () => postgres.startAgain();
    },
  };
}

/** Does something again and again until healed. It may fail. */
function repeating(everyMs: number, work: () => Promise<unknown>): Heal {
  const loop = new Repeating(() =>
    work().then(
      () => everyMs,
      () => everyMs,
    ),
  );
  loop.start();
  return () => loop.stop();
}

/**
 * Locks the executions in use from the last to the first; workers go from the first to the last.
 * Its own patience is longer.
 */
async function lockBackwards(system: System): Promise<void> {
  const options = '-c default_transaction_read_only=off -c deadlock_timeout=10min -c statement_timeout=5s';
  const client = await system.connect({ options });
  try {
    const recent = 'select * from executions order by last_event_at desc limit 25';
    const { rows } = await client.query<string[]>({
      text: `select organization, automation_id, execution_id from (${recent}) as recent order by 1 desc, 2 desc, 3 desc`,
      rowMode: 'array',
    });
    const lock = 'select 1 from executions where (organization, automation_id, execution_id) = ($1, $2, $3) for update';
    await client.query('begin');
    for (const key of rows) await client.query(lock, key);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

const workers = `from pg_stat_activity where usename = 'runledger'`;

/** Takes every connection there is, those of the workers first. */
function takeConnections({ system }: Scene): Heal {
  const taken: Client[] = [];
  const takeAll = async (): Promise<never> => {
    await system.query(`select pg_terminate_backend(pid) ${workers} and application_name <> 'hog'`);
    for (;;) taken.push(await system.connect({ user: 'runledger', application_name: 'hog', options: '' }));
  };
  const stop = repeating(500, takeAll);
  return async () => {
    await stop();
    await Promise.all(taken.map((client) => client.end()));
  };
}

async function setReadOnly(system: System, change: string): Promise<void> {
  await system.query(`alter system ${change}`);
  await system.query('select pg_reload_conf()');
}

/** Faults of Postgres. */
export const postgresFaults: Record<string, FaultType> = {
  'postgres killed': ended('SIGKILL', [0, 10_000]),
  'postgres crashed': ended('SIGQUIT', [0, 5_000]),
  'postgres restarted': ended('SIGINT', [0, 3_000]),
  'postgres frozen': {
    places,
    hold: [1_000, 40_000],
    inject: async ({ system: { postgres } }) => {
      await postgres.signal('SIGSTOP');
      return () => postgres.signal('SIGCONT');
    },
  },
  'postgres read-only': {
    places,
    hold: [500, 10_000],
    inject: async ({ system }) => {
      await setReadOnly(system, 'set default_transaction_read_only = on');
      return () => setReadOnly(system, 'reset default_transaction_read_only');
    },
  },
  'postgres out of connections': { places, hold: [1_000, 10_000], inject: takeConnections },
  'postgres deadlocks': {
    places,
    hold: [2_000, 10_000],
    inject: ({ system }) => repeating(5, () => lockBackwards(system)),
  },
  'postgres statement time-out': {
    places,
    hold: [1_000, 35_000],
    inject: async ({ system }, { amount }) => {
      const client = await system.connect();
      await client.query('begin');
      await client.query('lock table executions in access exclusive mode');
      // Half of the time the worker's own limit must end the statement, if the lock is long enough.
      const cancel = () => system.query(`select pg_cancel_backend(pid) ${workers} and state = 'active'`);
      const stop = amount < 0.5 ? repeating(700, cancel) : undefined;
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
      return () => disk?.makeRoom();
    },
  },
};
