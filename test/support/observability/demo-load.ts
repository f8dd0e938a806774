import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../api-client.ts';

/** Executions at once, as clients of a fleet. */
const clients = 16;

/**
 * How one execution goes, by its number: most succeed, some fail, some never end, some break the
 * order.
 */
const courses: string[][] = [
  ['START', 'EVENT', 'END'],
  ['START', 'EVENT', 'WARNING', 'END'],
  ['START', 'ERROR', 'END'],
  ['START', 'EVENT'],
  ['EVENT', 'START', 'START', 'END', 'EVENT'],
  ['START', 'END', 'ERROR'],
];

/** Plays executions of a fleet; resolves with the number of events that got a 201. */
export async function playFleet(client: ApiClient, executions: number): Promise<number> {
  let accepted = 0;
  let next = 0;
  const play = async (): Promise<void> => {
    for (let number = next; number < executions; number = next) {
      next += 1;
      const ids = { automation_id: randomUUID(), execution_id: `run ${number}` };
      for (const event of courses[number % courses.length] ?? []) {
        const answer = await client.register({ ...ids, event, description: 'a step of the automation' });
        if (answer.status === 201) accepted += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, play));
  return accepted;
}

/**
 * What else happens to a service: bad requests, retries with a key, plain HTTP with a token.
 * Resolves with the 201s.
 */
export async function playOddities(client: ApiClient): Promise<number> {
  const event = { automation_id: randomUUID(), execution_id: 'odd', event: 'START' };
  const answers = [
    await client.register({ ...event, event: 'BEGIN' }),
    await client.register(event, { token: 'unknown' }),
    await client.register(event, { 'idempotency-key': 'a-key' }),
    await client.register(event, { 'idempotency-key': 'a-key' }),
    await client.register(event, { 'x-forwarded-proto': 'http' }),
  ];
  return answers.filter(({ status }) => status === 201).length;
}

/** One execution of an automation that fails. Resolves with the 201s. */
export async function playFailure(client: ApiClient, automation_id: string): Promise<number> {
  const answers = [];
  for (const event of ['START', 'ERROR'])
    answers.push(await client.register({ automation_id, execution_id: 'x', event }));
  return answers.filter(({ status }) => status === 201).length;
}

/** What readers do: a list, an export, and a request with a wrong parameter. */
export async function playReads(reader: ApiClient): Promise<void> {
  for (const path of ['/v1/executions/?state=failed', '/v1/export/events/', '/v1/executions/?colour=red']) {
    await reader.send({ path });
  }
}
