import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../api-client.ts';
import { randomUUID } from 'node:crypto';
import { token } from './system.ts';

/**
 * Good clients: so many requests a second for so long. Resolves with the 99th percentile of the
 * time to a 201, in ms. Anything but a 201 is an error.
 */
export async function p99OfGoodClients(port: number, { rate = 200, ms = 3_000 } = {}): Promise<number> {
  const client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
  const automation_id = randomUUID();
  const times: number[] = [];
  const one = async (): Promise<void> => {
    const begun = performance.now();
    const { status, body } = await client.register({ automation_id, execution_id: randomUUID(), event: 'START' });
    if (status !== 201) throw new Error(`a good client was answered ${status}: ${body}`);
    times.push(performance.now() - begun);
  };
  const requests: Promise<void>[] = [];
  const begun = performance.now();
  while (performance.now() - begun < ms) {
    const due = ((performance.now() - begun) / 1_000) * rate;
    while (requests.length < due) requests.push(one());
    await sleep(2);
  }
  await Promise.all(requests);
  client.close();
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? Infinity;
}

/** Compared side by side, in turns. */
const turns = 8;

/** Taken besides where the first ones do not keep to the bar. */
const furtherTurns = 24;

/**
 * Good clients' p99 with the abuse as a multiple of that without. What else the machine does only
 * ever adds to a latency, so that of the turns the quicker ones count: the lower quartile of each
 * kind. Where that does not keep to the bar, further turns are taken, once, and all of them count.
 */
export async function slowdown(port: number, bar: number, abuse: () => Promise<() => void>): Promise<number> {
  const turn = { ms: 1_500 };
  await p99OfGoodClients(port, turn);
  const usual: number[] = [];
  const abused: number[] = [];
  const ratio = (): number => lowerQuartile(abused) / lowerQuartile(usual);
  const take = async (count: number): Promise<void> => {
    for (; count > 0; count -= 1) {
      usual.push(await p99OfGoodClients(port, turn));
      const end = await abuse();
      abused.push(await p99OfGoodClients(port, turn));
      end();
    }
  };
  await take(turns);
  if (ratio() >= bar) await take(furtherTurns);
  const [before, during] = [lowerQuartile(usual), lowerQuartile(abused)];
  console.log(`      p99: usually ${before.toFixed(1)} ms, under abuse ${during.toFixed(1)} ms, ${usual.length} turns`);
  return ratio();
}

function lowerQuartile(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 4)] ?? Number.NaN;
}
