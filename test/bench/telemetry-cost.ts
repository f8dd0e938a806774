import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createIngest, ingestSettings } from '../../cmd/ingest/ingest.ts';
import { readConfig } from '../../internal/config/read.ts';
import { Counter, Gauge, Histogram } from '../../internal/telemetry/metrics.ts';
import { createTelemetry } from '../../internal/telemetry/telemetry.ts';
import { ApiClient } from '../support/api-client.ts';
import { RedisServer } from '../support/redis-server.ts';

/*
 * What metrics and logs cost ingest, in CPU time per event. One process, warm, with both switched on and off in turn, so
 * that neither the luck of a process nor the neighbours on the machine favour a side.
 * `node test/bench/telemetry-cost.ts [rounds] [events a round]`
 */

const [rounds = 60, events = 4_000] = process.argv.slice(2).map(Number);
const connections = 64;
const token = 'benchmark-token-0123456789';

type Variant = 'on' | 'off';

if (process.send === undefined) await compare();
else await serve();

async function compare(): Promise<void> {
  const redis = await RedisServer.start();
  const child = fork(import.meta.filename, { env: { ...process.env, REDIS_URL: redis.url }, stdio: 'inherit' });
  try {
    const [port] = (await once(child, 'message')) as [number];
    const base = `http://127.0.0.1:${port}`;
    const client = new ApiClient(base, { token, 'x-forwarded-proto': 'https' }, { maxSockets: connections });
    await send(client, events * 4);
    const cpu: Record<Variant, number[]> = { on: [], off: [] };
    for (let round = 0; round < rounds * 2; round += 1) {
      await redis.command('flushall');
      const variant = (round + (round >> 1)) % 2 === 0 ? 'on' : 'off';
      cpu[variant].push(await measure(child, client, variant));
    }
    client.close();
    report(cpu);
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await redis.stop();
  }
}

/** CPU time per event, in µs. */
async function measure(child: ChildProcess, client: ApiClient, variant: Variant): Promise<number> {
  child.send(variant);
  await once(child, 'message');
  const before = await cpuTime(child);
  await send(client, events);
  return ((await cpuTime(child)) - before) / events;
}

function report(cpu: Record<Variant, number[]>): void {
  const [on, off] = [median(cpu.on), median(cpu.off)];
  const differences = cpu.on.map((value, index) => value - (cpu.off[index] ?? Number.NaN));
  console.log(`ingest, ${rounds} rounds of ${events} events on each side, CPU time per event, medians:`);
  console.log(`metrics and logs on   ${on.toFixed(1)} µs`);
  console.log(`metrics and logs off  ${off.toFixed(1)} µs`);
  console.log(`difference of medians ${(on - off).toFixed(1)} µs, ${((on / off - 1) * 100).toFixed(1)} %`);
  const paired = median(differences);
  console.log(`median of differences ${paired.toFixed(1)} µs, ${((paired / off) * 100).toFixed(1)} %`);
}

async function send(client: ApiClient, count: number): Promise<void> {
  let left = count;
  const body = JSON.stringify({
    automation_id: '0190a0b0-0000-7000-8000-000000000001',
    execution_id: '2026-11-21T08:00:00Z',
    event: 'EVENT',
    description: 'Invoice 4711 was read, checked against the order, and sent to the accounting system.',
  });
  const one = async (): Promise<void> => {
    while ((left -= 1) >= 0) {
      const { status } = await client.register(body);
      if (status !== 201) throw new Error(`answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
}

/** Time of all threads of a process on a CPU so far, in µs: finer than the ticks of /proc/<pid>/stat. */
async function cpuTime({ pid }: ChildProcess): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
  );
  return stats.reduce((sum, stat) => sum + Number(stat.split(' ')[0]), 0) / 1_000;
}

async function serve(): Promise<void> {
  const metrics = switchable();
  const telemetry = createTelemetry('ingest', 'info');
  const settings = { PORT: '0', PUBLIC_URL: 'https://runledger.example', TRUST_PROXY: 'true' };
  const nothing = (): Promise<void> => Promise.resolve();
  const tokens = {
    name: 'tokens',
    start: nothing,
    stop: nothing,
    unready: () => undefined,
    authenticate: () => ({ status: 'known', organization: 'acme' }) as const,
  };
  const config = readConfig(ingestSettings, { REDIS_URL: process.env['REDIS_URL'], ...settings });
  const { component, servers } = createIngest(config, tokens, telemetry);
  await component.start();
  process.on('message', (variant: Variant) => {
    metrics.on = variant === 'on';
    telemetry.logger.level = metrics.on ? 'info' : 'silent';
    process.send?.(variant);
  });
  process.send?.(servers[0]?.port);
}

/** Makes every metric do nothing while it is off: nothing is looked up, added or timed. */
function switchable(): { on: boolean } {
  const metrics = { on: true };
  for (const [type, method] of [
    [Counter, 'incWithoutExemplar'],
    [Histogram, 'observeWithoutExemplar'],
    [Gauge, 'set'],
    [Gauge, 'inc'],
  ] as const) {
    const prototype = type.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = prototype[method];
    if (original === undefined) throw new Error(`prom-client has no ${method} any more`);
    prototype[method] = function switched(...args) {
      return metrics.on ? original.apply(this, args) : undefined;
    };
  }
  return metrics;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
