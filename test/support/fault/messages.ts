import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until.ts';
import type { Balancer, Reply } from './balancer.ts';
import type { RowSource } from './audit.ts';
import type { Pod } from './pod.ts';
import { pingKey, token } from './tokens.ts';

/** A request that becomes several events, of a run of its own. */
interface Message {
  readonly run: string;
  /** Which the record must have of the run, in order. */
  readonly kinds: string;
  /** One of several texts: a caller that repeats a message may have another one by then. */
  send: (text: string, post: Post) => Promise<Reply>;
  /** True if each text is an event of its own: a ping's text is its identity. */
  readonly eachText: boolean;
}

type Post = (path: string, body: string, headers?: Record<string, string>) => Promise<Reply>;

const patienceMs = 4_000;

function lineageFailure(): Message {
  const run = randomUUID();
  const eventTime = new Date().toISOString();
  const bearer = { authorization: `Bearer ${token}` };
  const send: Message['send'] = (message, post) => {
    const facets = { errorMessage: { message, programmingLanguage: 'SQL' } };
    const event = {
      eventType: 'FAIL',
      eventTime,
      run: { runId: run, facets },
      job: { namespace: 'shop', name: 'orders' },
    };
    return post('/api/v1/lineage', JSON.stringify(event), bearer);
  };
  return { run, kinds: 'END ERROR', send, eachText: false };
}

function pingFailure(): Message {
  const run = randomUUID();
  const path = `/ping/${pingKey}/${randomUUID()}/fail?rid=${run}`;
  return { run, kinds: 'END ERROR', send: (text, post) => post(path, text), eachText: true };
}

/** With keys of the caller, each of which is bound to the first body that it came with. */
function bulk(): Message {
  const run = randomUUID();
  const automation_id = randomUUID();
  const send = (description: string, post: Post): Promise<Reply> => {
    const events = ['START', 'ERROR', 'END'].map((event) => {
      return { automation_id, execution_id: run, event, description, idempotency_key: `${run}-${event}` };
    });
    return post('/v1/register/bulk/', JSON.stringify(events));
  };
  return { run, kinds: 'END ERROR START', send, eachText: false };
}

const shapes = [lineageFailure, pingFailure, bulk];

/**
 * Callers of requests that become several events. They repeat a request without an answer with
 * another text, until it is recorded.
 */
export class Messages {
  readonly #sent: Message[] = [];

  /** Sends messages to a pod at once. Resolves when each was recorded, by whatever pod. */
  async send(balancer: Balancer, pod: Pod, count: number): Promise<void> {
    const messages = Array.from({ length: count }, (_, index) => (shapes[index % shapes.length] ?? bulk)());
    this.#sent.push(...messages);
    await Promise.all(messages.map((message) => sendUntilRecorded(message, balancer, pod)));
  }

  /** What the record has of the messages and should not, in words. */
  async audit(database: RowSource): Promise<string[]> {
    const rows = await database.query<{ run: string; kind: string; count: number }>(
      `select execution_id as run, kind, count(*)::integer as count from events
       where execution_id = any($1) group by execution_id, kind order by execution_id, kind`,
      [this.#sent.map(({ run }) => run)],
    );
    const byRun = Map.groupBy(rows, ({ run }) => run);
    return this.#sent.flatMap(({ run, kinds, eachText }) => {
      const found = byRun.get(run) ?? [];
      const isWhole = found.map(({ kind }) => kind).join(' ') === kinds;
      const isOnce = found.every(({ kind, count }) => count === 1 || (eachText && kind === 'ERROR'));
      if (isWhole && isOnce) return [];
      return `of one request for run ${run}: ${found.map(({ kind, count }) => `${count} ${kind}`).join(', ')}`;
    });
  }
}

async function sendUntilRecorded(message: Message, balancer: Balancer, pod: Pod): Promise<void> {
  const [first, other] = ['the first text', 'another text'];
  const at: Post = (path, body, headers = {}) => balancer.registerAt(pod, body, headers, patienceMs, path);
  const anywhere: Post = (path, body, headers = {}) => balancer.register(body, headers, patienceMs, path);
  let answer = await message.send(first, at);
  let text = other;
  await until(
    'a message is recorded',
    async () => {
      if (answer.status === 200 || answer.status === 201) return true;
      // The keys of a caller belong to the text that came first.
      if (answer.status === 422) text = text === first ? other : first;
      else if (![0, 409, 503].includes(answer.status)) throw new Error(`${answer.status}: ${answer.body}`);
      await sleep(200);
      answer = await message.send(text, anywhere);
      return false;
    },
    90_000,
  );
}
