import { join } from 'node:path';
import { AdmissionJournal } from '../../../internal/queue/admission/admission-journal.ts';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { query } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { figure, median } from '../harness/figures.ts';
import type { Program } from '../harness/program.ts';
import type { Scenario } from './scenario.ts';
import { tickInCluster } from './tick-cluster.ts';
import { startController } from './tick-controller.ts';
import { automations, declareAll, organizations, runsEach, seedRuns, startRuns } from './tick-fleet.ts';

/** A grace of up to two minutes, so that expected times pass one after another. */
const graceSeconds = 120;

/**
 * 10,000 automations with schedules, in a file and then in a cluster: how long a tick takes, how
 * soon a verdict comes, and what the controller costs.
 */
export const tick: Scenario = async (world, options) => {
  const journal = new AdmissionJournal([{ redis: world.redis, queueName: 'events' }], () => true);
  await journal.start();
  try {
    const [file, cluster] = [await tickOfFile(world, options), await tickInCluster(world, options)];
    return { figures: [...file.figures, ...cluster.figures], notes: [...(file.notes ?? []), ...(cluster.notes ?? [])] };
  } finally {
    // Its timer would keep this process alive after a failure.
    await journal.stop();
  }
};

const tickOfFile: Scenario = async (world, { rounds }) => {
  const database = await world.createDatabase();
  await seedRuns(database);
  const file = join(world.folder, 'automations.yaml');
  const usual = "{ schedule: '*/5 * * * *', grace: 10m, maxDuration: 45m, failures: { consecutive: 3 } }";
  await declareAll(file, () => usual);
  // The time before the first note is no gap: a start that is missing soon can be proven.
  const gaps = queueKey('events', 'gaps');
  await until('a note', async () => (await world.redis.exists(gaps)) === 1);
  await world.redis.del(gaps);
  const controller = await startController(world, database, { AUTOMATIONS_FILE: file });
  const evaluated = async (): Promise<number> =>
    Number((await query(database, 'select count(*) as count from automations where next_at > now()'))[0]?.['count']);
  await until('each is evaluated', async () => (await evaluated()) === automations, 60_000);

  const quiet: number[] = [];
  const due: number[] = [];
  const resting = await cpuShare(controller.program, async () => {
    for (let round = 0; round <= rounds; round += 1) quiet.push((await controller.nextTick()).seconds);
  });
  for (let round = 0; round < rounds; round += 1) {
    await query(database, 'update automations set next_at = null');
    due.push((await controller.tickOf(automations)).seconds);
    await controller.nextTick();
  }
  await query(database, 'truncate executions, running_executions');
  await declareAll(file, (number) => `{ schedule: '* * * * *', grace: ${number % graceSeconds}s }`);
  const opened = async (): Promise<number> =>
    Number((await query(database, 'select count(*) as count from alerts where resolved_at is null'))[0]?.['count']);
  const busy = await cpuShare(controller.program, () =>
    until('each has an alert', async () => (await opened()) === automations, 600_000),
  );
  const late = await query(database, 'select max(extract(epoch from seen_at - opened_at))::float8 as s from alerts');
  const open: number[] = [];
  for (let round = 0; round < rounds; round += 1) open.push((await controller.nextTick()).seconds);
  await startRuns(database);
  const ended = [(await controller.tickOf(automations)).seconds];
  while (ended.length < rounds) {
    await query(database, 'update alerts set resolved_at = null, resolved_reason = null');
    await query(database, 'update automations set next_at = null');
    ended.push((await controller.tickOf(automations)).seconds);
  }
  const memory = await controller.program.memory('VmHWM');

  await world.end(controller.program);
  const ms = (values: number[]): number => median(values) * 1_000;
  return {
    figures: [
      figure('A tick with nothing due', ms(quiet.slice(1)), 'ms'),
      figure('A tick with all automations due', ms(due), 'ms', { atMost: 2_000 }),
      figure('A tick with an alert open for each', ms(open), 'ms', { atMost: 2_000 }),
      figure('A tick in which each alert ends', ms(ended), 'ms', { atMost: 2_000 }),
      figure('Latest verdict after the watermark has passed its time', Number(late[0]?.['s']), 's', { atMost: 15 }),
      figure('CPU of the controller with nothing due', resting, 'ms/s'),
      figure('CPU of the controller while each gets an alert', busy, 'ms/s'),
      figure('Most memory of the controller', memory / 2 ** 20, 'MB', { atMost: 150 }),
    ],
    notes: [`tick: ${automations} automations of ${organizations} organizations, ${runsEach} runs each.`],
  };
};

/** CPU time of a program in ms for each second that some work takes. */
async function cpuShare(program: Program, work: () => Promise<unknown>): Promise<number> {
  const [begun, before] = [performance.now(), await program.cpu()];
  await work();
  return ((await program.cpu()) - before) / ((performance.now() - begun) / 1_000);
}
