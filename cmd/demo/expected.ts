import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoAutomation, DemoEvent } from './fleet.ts';
import { readVerdicts } from './record.ts';
import { replaceable } from './replaceable.ts';

/** An automation that does not meet its expectations. */
interface Misbehaving {
  id: string;
  name: string;
  /** YAML of its expectations. */
  expect: string;
  /** The verdict that follows. */
  verdict: string;
  /** What it reports after its first, successful run. */
  runs: readonly (readonly DemoEvent['event'][])[];
}

/** Longest wait for declarations, and for verdicts, in ms. */
const patience = 90_000;

const kinds = [
  { name: 'stopped-importer', expect: '{ every: 10s, grace: 0s }', verdict: 'missing', runs: [] },
  { name: 'stuck-crawler', expect: '{ maxDuration: 5s }', verdict: 'overrunning', runs: [['START']] },
  {
    name: 'broken-mailer',
    expect: '{ failures: { consecutive: 2 } }',
    verdict: 'failing',
    runs: [
      ['START', 'ERROR', 'END'],
      ['START', 'ERROR', 'END'],
    ],
  },
] as const;

/** New automations that miss, overrun and fail. */
export function createMisbehaving(): Misbehaving[] {
  return kinds.map((kind) => ({ ...kind, id: randomUUID() }));
}

/**
 * Declares the automations and the names of the fleet in the file that standalone watches. False if
 * the file belongs to its owner.
 */
export async function declare(
  file: string,
  automations: readonly Misbehaving[],
  fleet: readonly DemoAutomation[],
): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (!text.startsWith(replaceable)) return false;
  const manifests = automations.map(
    ({ id, name, expect }) => `---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: ${name}, namespace: demo }
spec: { automationId: ${id}, displayName: ${name}, owner: demo, expect: ${expect} }
`,
  );
  const names = fleet.map(
    ({ id, name }, index) => `---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: demo-${index + 1}, namespace: demo }
spec: { automationId: ${id}, displayName: ${JSON.stringify(name)}, owner: demo }
`,
  );
  const [namespace = ''] = text.split('---\n');
  await writeFile(file, [namespace, ...manifests, ...names].join(''));
  return true;
}

/** Reports a successful run of each, waits until they are declared, and lets them misbehave. */
export async function misbehave(
  automations: readonly Misbehaving[],
  send: (event: DemoEvent) => Promise<void>,
  console: string,
  token: string,
): Promise<void> {
  for (const automation of automations) await report(automation, 'good', ['START', 'END'], send);
  for (const { id } of automations) {
    await until(async () => (await readVerdicts(console, token, id)) !== undefined);
  }
  for (const automation of automations) await run(automation, send);
}

async function run(automation: Misbehaving, send: (event: DemoEvent) => Promise<void>): Promise<void> {
  for (const [number, events] of automation.runs.entries()) {
    await report(automation, String(number), events, send);
  }
}

async function report(
  { id, name }: Misbehaving,
  run: string,
  events: readonly DemoEvent['event'][],
  send: (event: DemoEvent) => Promise<void>,
): Promise<void> {
  const execution_id = `${new Date().toISOString()}-${run}`;
  for (const event of events) await send({ automation_id: id, execution_id, event, description: name });
}

/**
 * Waits for the verdicts and resolves with a table of them; undefined if one does not come. If an
 * event was rejected, Runledger cannot tell what its automation did, and it runs again.
 */
export async function verdictTable(
  automations: readonly Misbehaving[],
  send: (event: DemoEvent) => Promise<void>,
  console: string,
  token: string,
): Promise<string | undefined> {
  const lines: string[] = [];
  for (const automation of automations) {
    const { id, name, verdict } = automation;
    const unknown = new Set<string>();
    const found = await until(async () => {
      const verdicts = (await readVerdicts(console, token, id)) ?? [];
      const news = verdicts.filter(({ kind, reason }) => kind === 'unknown' && !unknown.has(reason));
      for (const { reason } of news) unknown.add(reason);
      if (news.length > 0) await run(automation, send);
      return verdicts.find(({ kind }) => kind === verdict);
    });
    if (found === undefined) return undefined;
    lines.push(`  ${name.padEnd(18)}${found.kind.padEnd(13)}${found.reason}`);
  }
  return lines.join('\n');
}

async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T | undefined> {
  const deadline = performance.now() + patience;
  do {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    await sleep(500);
  } while (performance.now() < deadline);
  return undefined;
}
