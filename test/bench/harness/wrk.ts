import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = join(import.meta.dirname, 'events.lua');

/** The token that every side takes. */
export const token = 'benchmark-token-0123456789';

/** The ping key of the same organization. */
export const pingKey = 'benchmark-ping-key-0123456789';

/** How many automations the events and pings of a load are of, and their ids. */
export const automations = 200;
export const automationId = (at: number): string => `${at.toString(16).padStart(8, '0')}-0000-4000-9000-000000000000`;

/** The token with which the console is read. */
export const readToken = 'benchmark-read-token-0123456789';

export interface Load {
  port: number;
  connections: number;
  /** Whole seconds. */
  seconds: number;
  /** Mean pause of a connection between an answer and its next request, in ms; none unless set. */
  pauseMs?: number;
  /** Events of a request; one unless set. */
  events?: number;
  /** What a request is: an event, one with an Idempotency-Key, a ping, or a ping with a text. */
  kind?: 'plain' | 'keyed' | 'ping' | 'told';
  /** The tokens of the callers; {@link token} unless set. Each execution takes one of them. */
  tokens?: readonly string[];
}

/** What the callers saw. Latencies in ms. */
export interface Answers {
  /** Answered with 201. Requests under way at the end are not counted: at most one a connection. */
  accepted: number;
  seconds: number;
  /** Answered with something else. */
  refused: number;
  /** Not answered. */
  broken: number;
  p50: number;
  p99: number;
  /** How often requests were under way at an end. */
  loads: number;
}

/** Events accepted a second. */
export const rateOf = ({ accepted, seconds }: Answers): number => accepted / seconds;

interface Report {
  requests: number;
  us: number;
  refused: number;
  broken: number;
  p50: number;
  p99: number;
}

let seed = 0;

/** Sends events over so many connections for so long. */
export async function load({
  port,
  connections,
  seconds,
  pauseMs = 0,
  events = 1,
  kind = 'plain',
  tokens = [kind === 'ping' || kind === 'told' ? pingKey : token],
}: Load): Promise<Answers> {
  seed += 1;
  const options = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s', '-s', script];
  const url = `http://127.0.0.1:${port}`;
  const ofScript = [tokens.join(','), String(pauseMs), String(seed), String(events), kind];
  const running = run('wrk', [...options, url, '--', ...ofScript]);
  const end = (): void => void running.child.kill();
  process.once('exit', end);
  const { stdout } = await running.finally(() => process.off('exit', end));
  const line = stdout.split('\n').find((text) => text.startsWith('{')) ?? 'null';
  const { requests, us, refused, broken, p50, p99 } = JSON.parse(line) as Report;
  return { accepted: (requests - refused) * events, seconds: us / 1e6, refused, broken, p50, p99, loads: 1 };
}

/** Sends at full speed until at least so many events are accepted. */
export async function fill(
  port: number,
  connections: number,
  events: number,
  tokens?: readonly string[],
): Promise<Answers> {
  const callers = { port, connections, ...(tokens && { tokens }) };
  let sum = await load({ ...callers, seconds: 1 });
  while (sum.accepted < events) {
    if (sum.accepted === 0) throw new Error('no event is accepted');
    const left = Math.ceil(((events - sum.accepted) / sum.accepted) * sum.seconds);
    const next = await load({ ...callers, seconds: Math.max(1, Math.min(left, 30)) });
    sum = {
      accepted: sum.accepted + next.accepted,
      seconds: sum.seconds + next.seconds,
      refused: sum.refused + next.refused,
      broken: sum.broken + next.broken,
      p50: Math.max(sum.p50, next.p50),
      p99: Math.max(sum.p99, next.p99),
      loads: sum.loads + next.loads,
    };
  }
  return sum;
}

/** @throws with what to do when wrk is not there. */
export async function requireWrk(): Promise<void> {
  const missing = await run('wrk', ['-v']).then(
    () => false,
    (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT',
  );
  if (missing) throw new Error('wrk is missing: install the package wrk with your package manager');
}
