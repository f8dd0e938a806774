import { setTimeout as sleep } from 'node:timers/promises';
import { automationOfLargest } from '../../support/seed-record.ts';
import { readToken } from './wrk.ts';

/** A request to the console, by what it asks for. */
export interface Read {
  name: string;
  path: string;
}

const headers = { token: readToken, 'x-forwarded-proto': 'https' };
const dayMs = 24 * 3_600_000;

/**
 * Reads one answer to its end. Resolves with it.
 * @throws when the console does not answer with 200.
 */
export async function get(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

/** Every list and detail, at the largest organization, with pages of the usual size. */
export async function readsOf(port: number): Promise<Read[]> {
  const automation = automationOfLargest(7);
  const ago = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();
  const { items } = JSON.parse(await get(port, `/v1/executions/?limit=1&to=${ago(20)}`)) as {
    items: { automation: string; execution_id: string }[];
  };
  const [old] = items;
  if (old === undefined) throw new Error('there is no execution of 20 days ago');
  const { next_cursor: cursor } = JSON.parse(await get(port, '/v1/executions/?limit=500')) as { next_cursor: string };
  const one = `/v1/executions/${old.automation}/${old.execution_id}/`;
  return [
    { name: 'executions', path: '/v1/executions/' },
    { name: 'executions, next page', path: `/v1/executions/?limit=500&cursor=${encodeURIComponent(cursor)}` },
    { name: 'executions of a day', path: `/v1/executions/?from=${ago(12)}&to=${ago(11)}` },
    { name: 'failed executions', path: '/v1/executions/?state=failed' },
    { name: 'running executions', path: '/v1/executions/?state=running' },
    { name: 'succeeded executions', path: '/v1/executions/?state=succeeded' },
    { name: 'executions of an automation', path: `/v1/executions/?automation_id=${automation}` },
    { name: 'failed executions of an automation', path: `/v1/executions/?automation_id=${automation}&state=failed` },
    { name: 'executions with an anomaly', path: '/v1/executions/?anomaly=start_missing' },
    { name: 'executions with a warning', path: '/v1/executions/?has=warning' },
    { name: 'executions with an error_id', path: '/v1/executions/?error_id=E-3' },
    { name: 'executions with an id', path: `/v1/executions/?execution_id=${old.execution_id}` },
    { name: 'one execution', path: one },
    { name: 'events of an execution', path: `${one}events/` },
    { name: 'events', path: '/v1/events/' },
    { name: 'events of a day', path: `/v1/events/?from=${ago(12)}&to=${ago(11)}` },
    { name: 'errors', path: '/v1/events/?kind=ERROR' },
    { name: 'warnings', path: '/v1/events/?kind=WARNING' },
    { name: 'events with an error_id', path: '/v1/events/?error_id=E-3' },
    { name: 'events of an automation', path: `/v1/events/?automation_id=${automation}` },
    { name: 'error groups', path: '/v1/errors/' },
    { name: 'automations', path: '/v1/automations/' },
    { name: 'one automation', path: `/v1/automations/${automation}/` },
  ];
}

/**
 * Sends the requests in turn at a fixed rate, whether or not earlier ones are answered, until the
 * work ends. Resolves with the latencies by name, in ms, each from the time at which it was due.
 */
export async function readMeanwhile(
  port: number,
  reads: Read[],
  perSecond: number,
  work: Promise<unknown>,
): Promise<Map<string, number[]>> {
  const latencies = new Map<string, number[]>();
  const pending: Promise<void>[] = [];
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  const begun = performance.now();
  for (let number = 0; !over.signal.aborted; number += 1) {
    const due = begun + (number * 1_000) / perSecond;
    await sleep(Math.max(0, due - performance.now()));
    const read = reads[number % reads.length];
    if (read === undefined) break;
    const latency = get(port, read.path).then(() => performance.now() - due);
    pending.push(latency.then((ms) => void latencies.set(read.name, [...(latencies.get(read.name) ?? []), ms])));
  }
  await Promise.all([ended, ...pending]);
  return latencies;
}
