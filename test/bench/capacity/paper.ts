import { readFile } from 'node:fs/promises';
import { number } from '../harness/table.ts';
import { assumptions } from './assumptions.ts';
import { readCosts, type EventCosts, type Results, type Seen } from './costs.ts';
import { replay } from './replay.ts';
import { catchUpSeconds, drainRateOn, limitsOf, sizeFor, type Sizing } from './sizing.ts';
import { seeded, traces } from './traces.ts';

const rates = [1_000, 10_000, 100_000, 1_000_000];

/** The rate whose traces are shown; the others give the same seconds. */
const replayedRate = 10_000;

const results = new URL('../results/bench.json', import.meta.url);

/** The tables of capacity.md, in Markdown, from the results of the bench. */
export async function capacityTables(): Promise<Record<'costs' | 'needs' | 'replayed' | 'seen', string>> {
  const { costs, seen } = readCosts(JSON.parse(await readFile(results, 'utf8')) as Results);
  return {
    costs: costsTable(costs),
    needs: needsTable(costs),
    replayed: replayedTable(costs),
    seen: seenTable(costs, seen),
  };
}

function costsTable({ flow, rush, waiting, wal, kept, cold }: EventCosts): string {
  return table(
    ['Part', 'In a steady flow', 'In a rush', 'One core takes at most'],
    [
      ['Ingest', us(flow.ingest), us(flow.ingest), perCore(flow.ingest)],
      ['Redis', us(flow.redis), us(rush.redis), perCore(rush.redis)],
      ['Worker', us(flow.worker), us(rush.worker), perCore(rush.worker)],
      ['Postgres', us(flow.postgres), us(rush.postgres), perCore(rush.postgres)],
      ['Memory of Redis, while an event waits', '', `${number(waiting)} bytes`, ''],
      ['Memory of Redis for a key', '', `${number(assumptions.keyBytes)} bytes`, ''],
      ['Log of Postgres', `${number(wal)} bytes`, '', ''],
      ['Disk of Postgres, with indexes', `${number(kept)} bytes`, '', ''],
      ['The same of a day that only the archive has', `${number(cold.executions)} bytes`, '', ''],
      ['Archive', `${number(cold.archive)} bytes`, '', ''],
    ],
  );
}

function needsTable(costs: EventCosts): string {
  const sizes = rates.map((rate) => sizeFor(rate, costs, assumptions));
  const row = (title: string, cell: (sizing: Sizing) => string): string[] => [title, ...sizes.map(cell)];
  return table(
    ['Events a second, steady', ...rates.map((rate) => number(rate))],
    [
      row('Pods of ingest, a core each', ({ ingestPods }) => number(ingestPods)),
      row('Pods of workers, a core each', ({ workerPods }) => number(workerPods)),
      row('Redis, a core each', ({ redisServers }) => number(redisServers)),
      row('Memory of all Redis', ({ redisMemory }) => bytes(redisMemory)),
      row('Of which for keys', ({ keyMemory }) => bytes(keyMemory)),
      row('Cores of all Postgres', ({ postgresCores }) => number(postgresCores)),
      row('Postgres', ({ postgresServers }) => number(postgresServers)),
      row('Kept of a day', ({ bytesPerDay }) => bytes(bytesPerDay)),
      row(`Kept of ${assumptions.retentionDays} days`, ({ bytesPerDay }) =>
        bytes(bytesPerDay * assumptions.retentionDays),
      ),
      row(`With ${assumptions.hotDays} hot days, in Postgres`, ({ withHotDays }) => bytes(withHotDays.postgres)),
      row(`With ${assumptions.hotDays} hot days, in the archive`, ({ withHotDays }) => bytes(withHotDays.archive)),
      row('Dollars a month, without that disk', ({ dollars }) => number(dollars.servers)),
      row('Dollars a month for that disk', ({ dollars }) => number(dollars.disk)),
      row(`With ${assumptions.hotDays} hot days, for disk and archive`, ({ dollars }) => number(dollars.withHotDays)),
      row('Gives way first', ({ givesWayFirst }) => givesWayFirst),
    ],
  );
}

function replayedTable(costs: EventCosts): string {
  const sizing = sizeFor(replayedRate, costs, assumptions);
  const rows = Object.entries(traces).map(([name, trace]) => {
    const { refused, mostWaiting, p95, longest } = replay(
      trace(replayedRate, seeded(1)),
      limitsOf(sizing, costs, assumptions),
      costs.waiting,
    );
    return [name, number(refused), number(mostWaiting), bytes(mostWaiting * costs.waiting), `${p95} s`, `${longest} s`];
  });
  return table(['Trace', 'Refused', 'Most that wait', 'In Redis', 'p95 until stored', 'Longest'], rows);
}

function seenTable(costs: EventCosts, seen: Seen): string {
  const { cores, drainRate, pausedRate, waited, storedAfter } = seen;
  return table(
    ['Figure', 'Reckoned', 'Measured'],
    [
      ['A worker drains, events/s', number(drainRateOn(cores, costs)), number(drainRate)],
      [
        `${number(waited)} events wait while ${number(pausedRate)} a second arrive; stored after`,
        `${number(catchUpSeconds(waited, pausedRate, cores, costs))} s`,
        `${number(storedAfter)} s`,
      ],
    ],
  );
}

function table(head: string[], rows: string[][]): string {
  const alignment = head.map((_, column) => (column === 0 ? '---' : '---:'));
  const lines = [head, alignment, ...rows].map((row) => `| ${row.join(' | ')} |`);
  return ['<!-- prettier-ignore -->', ...lines].join('\n');
}

const us = (value: number): string => `${number(value)} µs`;
const perCore = (value: number): string => `${number(Math.round(1e6 / value))} events/s`;

function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${number(value / 1_000 ** power)} ${units[power]}`;
}
