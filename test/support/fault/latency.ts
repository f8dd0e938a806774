import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../api-client.ts';
import { eventBody } from '../events.ts';
import { token } from './tokens.ts';

/**
 * Good clients: 200 requests a second for so long. Resolves with the 99th percentile of the time to
 * a 201, in ms. Rejects for any other answer.
 */
export async function p99OfGoodClients(port: number, ms = 3_000): Promise<number> {
  const client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
  const times: number[] = [];
  const one = async (): Promise<void> => {
    const begun = performance.now();
    const { status, body } = await client.register(eventBody());
    if (status !== 201) throw new Error(`a good client was answered ${status}: ${body}`);
    times.push(performance.now() - begun);
  };
  const requests: Promise<void>[] = [];
  const begun = performance.now();
  for (let passed = 0; passed < ms; passed = performance.now() - begun) {
    while (requests.length < passed * 0.2) requests.push(one());
    await sleep(2);
  }
  await Promise.all(requests);
  client.close();
  return quantile(times, 0.99);
}

/**
 * Good clients' p99 under abuse as a multiple of their usual p99, measured in turns. Other work of
 * the machine only ever adds to a latency: the lower quartile of the turns counts. Where it exceeds
 * the bar, further turns are taken, once, and all of them count.
 */
export async function slowdown(port: number, bar: number, abuse: () => Promise<() => void>): Promise<number> {
  const turnMs = 1_500;
  await p99OfGoodClients(port, turnMs);
  const usual: number[] = [];
  const abused: number[] = [];
  const ratio = (): number => quantile(abused, 0.25) / quantile(usual, 0.25);
  for (const turns of [6, 24]) {
    for (let turn = 0; turn < turns; turn += 1) {
      usual.push(await p99OfGoodClients(port, turnMs));
      const end = await abuse();
      abused.push(await p99OfGoodClients(port, turnMs));
      end();
    }
    if (ratio() < bar) break;
  }
  const [before, during] = [quantile(usual, 0.25).toFixed(1), quantile(abused, 0.25).toFixed(1)];
  console.log(`      p99: usually ${before} ms, under abuse ${during} ms, ${usual.length} turns`);
  return ratio();
}

function quantile(figures: number[], share: number): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length * share)] ?? Infinity;
}
