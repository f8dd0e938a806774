import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../api-client.ts';
import { randomUUID } from 'node:crypto';
import { token } from './system.ts';

/** Good clients: so many requests a second for so long. Resolves with the 99th percentile of the time to a 201, in ms. Anything but a 201 is an error. */
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

/** Compared side by side, in turns, since the machine has other things to do too. */
const turns = 5;

/** Good clients' p99 with the abuse as a multiple of that without: the median of some turns. */
export async function slowdown(port: number, abuse: () => Promise<() => void>): Promise<number> {
  await p99OfGoodClients(port);
  const ratios: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const usual = await p99OfGoodClients(port, { ms: 2_000 });
    const end = await abuse();
    const abused = await p99OfGoodClients(port, { ms: 2_000 });
    end();
    console.log(`      p99 usual ${usual.toFixed(1)} ms, under abuse ${abused.toFixed(1)} ms`);
    ratios.push(abused / usual);
  }
  return ratios.sort((a, b) => a - b)[Math.floor(turns / 2)] ?? Number.NaN;
}
