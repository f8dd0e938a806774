import type { ServerResponse } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AdmissionJournal } from '../../../internal/queue/admission/admission-journal.ts';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { freePort } from '../../support/free-port.ts';
import { startReceiver, type Receiver } from '../../support/notify/receiver.ts';
import { query } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { figure } from '../harness/figures.ts';
import type { Scenario } from './scenario.ts';
import { startController } from './tick-controller.ts';

const alerts = 10_000;
/** Chats that accept everything. */
const willing = ['a', 'b', 'c'] as const;

/**
 * 10,000 alerts at once for six chats, of which one is slow, one dead and one busy: how soon the
 * others hear of it, whether of each once, and what memory the controller takes.
 */
export const tell: Scenario = async (world) => {
  const journal = new AdmissionJournal([{ redis: world.redis, queueName: 'events' }], () => true);
  await journal.start();
  await using slow = await startReceiver();
  await using busy = await startReceiver({ pair: slow.pair });
  const held: ServerResponse[] = [];
  slow.answer = (_, response) => void held.push(response);
  busy.answer = (_, response) => response.writeHead(429, { 'Retry-After': '3600' }).end();
  const chats: Receiver[] = [];
  try {
    const database = await world.createDatabase();
    const begun = new Map<string, number>();
    const urls: Record<string, string> = {
      slow: slow.url,
      busy: busy.url,
      dead: `https://localhost:${await freePort()}/`,
    };
    for (const name of willing) {
      const chat = await startReceiver({ pair: slow.pair });
      chat.answer = (_, response) => {
        if (!begun.has(name)) begun.set(name, performance.now());
        response.writeHead(200).end('ok');
      };
      chats.push(chat);
      urls[name] = chat.url;
    }
    const [file, ca] = [join(world.folder, 'told.yaml'), join(world.folder, 'chats.pem')];
    await writeFile(file, declarations(urls));
    await writeFile(ca, slow.ca);
    // The time before the first note is no gap: the missing starts can be proven.
    const gaps = queueKey('events', 'gaps');
    await until('a note', async () => (await world.redis.exists(gaps)) === 1);
    await world.redis.del(gaps);
    const source = { AUTOMATIONS_FILE: file, CHANNEL_ALLOW_PRIVATE: 'true', NODE_EXTRA_CA_CERTS: ca };
    const controller = await startController(world, database, source);
    const isDue = async () => (await query(database, 'select from deliveries limit 1')).length > 0;
    await until('the first alerts', isDue, 180_000, 20);
    const due = performance.now();
    await until('all have begun', () => begun.size === willing.length, 60_000);
    const told = (): number[] =>
      chats.map(({ received }) => received.reduce((sum, { body }) => sum + countOf(body), 0));
    await until('all are told', () => told().every((count) => count >= alerts), 120_000);
    // Another round: what is told twice would be told by now.
    await controller.nextTick();
    await controller.nextTick();
    const memory = await controller.program.memory('VmHWM');
    const wrong = told().reduce((sum, count) => sum + Math.abs(count - alerts), 0);
    await world.end(controller.program);
    return {
      figures: [
        figure('Longest until a chat hears of the alerts', (Math.max(...begun.values()) - due) / 1_000, 's', {
          atMost: 2,
        }),
        figure('Alerts told twice or not at all', wrong, '', { atMost: 0 }),
        figure('Most memory of the controller that tells', memory / 2 ** 20, 'MB', { atMost: 256 }),
      ],
      notes: [`tell: ${alerts} alerts for six chats, of which one is slow, one dead and one busy.`],
    };
  } finally {
    for (const response of held) response.destroy();
    for (const chat of chats) await chat[Symbol.asyncDispose]();
    await journal.stop();
  }
};

/** How many alerts a message is about. */
function countOf(body: string): number {
  const { text } = JSON.parse(body) as { text: string };
  return Number(/acme: (\d+) automation/.exec(text)?.[1] ?? 1);
}

/** Automations that all miss the next minute, and the chats. */
function declarations(urls: Readonly<Record<string, string>>): string {
  const resource = (kind: string, name: string, rest: string, version = 'runledger.dev/v1beta1'): string =>
    `apiVersion: ${version}\nkind: ${kind}\nmetadata: { name: ${name}, namespace: acme }\n${rest}\n`;
  const automations = Array.from({ length: alerts }, (_, index) => {
    const id = `${index.toString(16).padStart(8, '0')}-0000-4000-9000-000000000000`;
    const expect = "{ schedule: '* * * * *', grace: 0s }";
    return resource('Automation', `automation-${index}`, `spec: { automationId: ${id}, expect: ${expect} }`);
  });
  const channels = Object.entries(urls).flatMap(([name, url]) => [
    resource('Channel', name, `spec: { type: slack, secretRef: { name: ${name} } }`),
    resource('Secret', name, `stringData: { url: '${url}' }`, 'v1'),
  ]);
  const namespace =
    'apiVersion: v1\nkind: Namespace\nmetadata: { name: acme, labels: { runledger.dev/organization: acme } }\n';
  return [namespace, ...channels, ...automations].join('---\n');
}
