import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { openDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';
import { figure, median, percentile } from '../harness/figures.ts';
import { startConsole } from '../harness/sides.ts';
import { StreamReaders } from '../harness/stream-readers.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const organizations = Array.from({ length: 50 }, (_, index) => `org-${index}`);
const streamsEach = 10;

/** Events that each organization stores a second. */
const perSecond = 4;

/** 500 streams of 50 organizations: how soon readers have an event, and what a console needs. */
export const streams: Scenario = async (world, { streamSeconds }) => {
  const database = await world.createDatabase();
  const { program, port } = await startConsole(world, database, { TOKENS_FILE: await writeTokens(world) });
  const readers = new StreamReaders();
  for (const organization of organizations) {
    for (let index = 0; index < streamsEach; index += 1) await readers.open(port, tokenOf(organization));
  }
  // A stream begins with the first poll after it was opened.
  await sleep(2_000);
  const [cpu, postgresCpu] = [await program.cpu(), await world.postgresCpu()];
  const memory: number[] = [];
  const stored = await storeFor(streamSeconds, database, readers, async () => {
    memory.push(await program.memory('VmRSS'));
  });
  await until(
    'every reader has every event',
    () => (readers.received >= stored * streamsEach ? true : undefined),
    30_000,
  );
  const third = Math.floor(memory.length / 3);
  const [early, late] = [median(memory.slice(third, 2 * third)), median(memory.slice(-third))];
  const spent = (since: number, now: number): number => (now - since) / 10 / streamSeconds;
  const figures = [
    figure('Events stored', stored, 'events'),
    figure('p50 from stored to received', median(readers.latencies) / 1_000, 's'),
    figure('p95 from stored to received', percentile(readers.latencies, 0.95) / 1_000, 's', { atMost: 1.5 }),
    figure('p99 from stored to received', percentile(readers.latencies, 0.99) / 1_000, 's'),
    figure('Events that a reader got twice', readers.repeated, 'events', { atMost: 0 }),
    figure('Events that a reader missed', stored * streamsEach - readers.received, 'events', { atMost: 0 }),
    figure('Streams that ended, messages of omission', readers.ended + readers.omissions, '', { atMost: 0 }),
    figure('Memory of the console in the second third', early / 2 ** 20, 'MB'),
    figure('Memory in the last third against it', late / early, '×', { atMost: 1.05 }),
    figure('CPU of the console', spent(cpu, await program.cpu()), '% of a core'),
    figure('CPU of Postgres', spent(postgresCpu, await world.postgresCpu()), '% of a core'),
  ];
  readers.close();
  await world.end(program);
  return {
    figures,
    notes: [
      `${organizations.length * streamsEach} streams, ${organizations.length} organizations, ${perSecond} events a second ` +
        `of each, for ${streamSeconds} s. The readers and the writer share a process, and the machine with the rest.`,
    ],
  };
};

/** Stores events of every organization at a steady rate. Resolves with their number. */
async function storeFor(
  seconds: number,
  database: string,
  readers: StreamReaders,
  everySecond: () => Promise<void>,
): Promise<number> {
  await using db = openDatabase(database);
  const begun = performance.now();
  let stored = 0;
  for (let turn = 0; turn < seconds * perSecond; turn += 1) {
    await sleep(Math.max(0, begun + (turn * 1_000) / perSecond - performance.now()));
    const events = organizations.map((organization, index) =>
      anEvent({
        organization,
        executionId: `run ${Math.floor(turn / 20)}`,
        kind: 'EVENT',
        description: `event ${turn} ${index}`,
      }),
    );
    await recordEvents(db, events);
    readers.stored(
      events.map(({ id }) => id),
      performance.now(),
    );
    stored += events.length;
    if (turn % perSecond === 0) await everySecond();
  }
  return stored;
}

function tokenOf(organization: string): string {
  return `benchmark-read-token-of-${organization}`;
}

async function writeTokens(world: World): Promise<string> {
  const file = join(world.folder, 'stream-tokens.yaml');
  const manifests = organizations.map((organization) =>
    JSON.stringify({
      kind: 'Secret',
      metadata: { name: organization, labels: { 'runledger.dev/organization': organization } },
      stringData: { 'read-1': tokenOf(organization) },
    }),
  );
  await writeFile(file, manifests.join('\n---\n'));
  return file;
}
