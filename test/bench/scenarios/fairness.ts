import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../support/api-client.ts';
import { query } from '../../support/postgres-server.ts';
import { compare, figure, percentile } from '../harness/figures.ts';
import { tokenOf, writeTokens } from '../harness/organizations.ts';
import { startIngest, startRunledgerWorker } from '../harness/sides.ts';
import { load, rateOf, token } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

/** With the overflow lane, and without. */
const sides = { on: { OVERFLOW_RATE: '400' }, off: { OVERFLOW_RATE: '0' } } as const;
type Side = keyof typeof sides;

const others = Array.from({ length: 20 }, (_, index) => `other-${index}`);

/** Time between two events of one of the others, in ms. */
const pauseMs = 100;

/** The flood: connections that send bulk requests, each after a pause of about so many ms. */
const flood = { connections: 8, events: 500, pauseMs: 130 };

/** The time that an event takes Postgres: so one machine can send ten times what workers store. */
const slowDown = `
  create function slow_down() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.001); return new; end $$;
  create trigger slow_down before insert on events for each row execute function slow_down()`;

/**
 * One organization sends ten times what the workers store, and 20 others ten events a second each:
 * how soon the events of the others are stored, and how many of them get a 201.
 */
export const fairness: Scenario = async (world, { rounds, seconds }) => {
  const tokens = others.map((other) => [other, tokenOf(other)] as const);
  const tokensFile = await writeTokens(world, new Map([['acme', token], ...tokens]));
  const found = await compare(['on', 'off'] as const, rounds, (side) => measure(world, tokensFile, side, seconds * 4));
  const of = (name: Parameters<typeof found.median>[0], side: Side): number => found.median(name, side);
  return {
    figures: [
      figure('The flood, against what the workers store', of('flood', 'off'), '×', { atLeast: 10 }),
      figure('p95 from acceptance to commit of the others', of('p95', 'on'), 's', { atMost: 2 }),
      figure('The same without the lane', of('p95', 'off'), 's'),
      figure('201 of the others', of('accepted', 'on'), '%', { atLeast: 100 }),
      figure('The same without the lane', of('accepted', 'off'), '%'),
      figure('p99 of 201 of the others', of('p99', 'on'), 'ms'),
      figure('The same without the lane', of('p99', 'off'), 'ms'),
      figure('201 of the flood', of('floodAccepted', 'on'), '%'),
    ],
    notes: [
      'A trigger makes each event take Postgres a millisecond, so that the flood leaves the machine room. An event that ' +
        'is not stored 3 s after the load counts with its age then: without the lane the p95 is that of the backlog.',
    ],
  };
};

async function measure(world: World, tokensFile: string, side: Side, seconds: number) {
  const database = await world.createDatabase();
  await world.emptyQueues();
  await query(database, slowDown);
  const ingest = await startIngest(world, { TOKENS_FILE: tokensFile, ...sides[side] });
  const worker = await startRunledgerWorker(world, database);
  const calling = new AbortController();
  const calls = Promise.all(others.map((other) => callAs(other, ingest.port, calling.signal)));
  const answers = await load({ port: ingest.port, seconds, ...flood });
  calling.abort();
  const sent = (await calls).flat();
  await sleep(3_000);
  const accepted = sent.filter(({ status }) => status === 201);
  const ages = await agesOf(database, accepted);
  const stored = await query<{ events: number }>(
    database,
    `select count(*)::integer as events from events where organization = 'acme'`,
  );
  await world.end(ingest.program);
  await world.end(worker);
  await world.emptyQueues();
  const requests = answers.accepted / flood.events + answers.refused + answers.broken;
  return {
    flood: rateOf(answers) / ((stored[0]?.events ?? Number.NaN) / (seconds + 3)),
    p95: percentile(ages, 0.95),
    accepted: (100 * accepted.length) / sent.length,
    p99: percentile(
      sent.map(({ ms }) => ms),
      0.99,
    ),
    floodAccepted: (100 * (answers.accepted / flood.events)) / requests,
  };
}

interface Sent {
  execution: string;
  status: number;
  /** How long the caller waited. */
  ms: number;
  createdAt: number;
}

/** Sends an event at each turn, until told to stop. */
async function callAs(organization: string, port: number, stopped: AbortSignal): Promise<Sent[]> {
  const client = new ApiClient(`http://127.0.0.1:${port}`, {
    token: tokenOf(organization),
    'x-forwarded-proto': 'https',
  });
  const sent: Sent[] = [];
  for (let turn = performance.now(); !stopped.aborted; turn += pauseMs) {
    await sleep(Math.max(0, turn - performance.now()));
    const execution = `${organization} ${sent.length}`;
    const begun = performance.now();
    const body = { automation_id: '00000001-0000-4000-9000-000000000000', execution_id: execution, event: 'START' };
    const answer = await client.register(body).catch(() => undefined);
    const createdAt =
      answer?.status === 201 ? Date.parse(answer.json<{ created_at: string }>().created_at) : Number.NaN;
    sent.push({ execution, status: answer?.status ?? 0, ms: performance.now() - begun, createdAt });
  }
  client.close();
  return sent;
}

/** The time of each event from its acceptance to its commit, or until now; in seconds. */
async function agesOf(database: string, events: readonly Sent[]): Promise<number[]> {
  const rows = await query<{ execution_id: string; at: Date }>(
    database,
    `select execution_id, pg_xact_commit_timestamp(xmin) as at from events where organization <> 'acme'`,
  );
  const now = Date.now();
  const storedAt = new Map(rows.map(({ execution_id, at }) => [execution_id, at.getTime()]));
  return events.map(({ execution, createdAt }) => ((storedAt.get(execution) ?? now) - createdAt) / 1_000);
}
