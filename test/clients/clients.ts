import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { until } from '../support/until.ts';

const root = new URL('../..', import.meta.url).pathname;

/** Installs the clients of a file once; resolves with the folder of their programs. */
export async function installClients(file = 'requirements.txt'): Promise<string> {
  const requirements = join(root, 'test/clients', file);
  const { stdout } = await promisify(execFile)(join(root, 'deploy/install-clients.sh'), [requirements]);
  return stdout.trim();
}

export interface Execution {
  execution_id: string;
  state: string;
  counts: Record<string, number>;
  anomalies: string[];
}

/** The executions of an automation, once so many have ended. */
export async function executionsOf(console: ApiClient, automation: string, count: number): Promise<Execution[]> {
  let executions: Execution[] = [];
  await until(`${count} executions in the record`, async () => {
    const answer = await console.send({ path: `/v1/executions/?automation_id=${automation}` });
    executions = answer.json<{ items: Execution[] }>().items;
    return executions.length >= count && executions.every(({ counts }) => (counts['END'] ?? 0) > 0);
  });
  expect(executions).to.have.lengthOf(count);
  return executions;
}
