import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMisbehaving, declare, misbehave, verdictTable } from './expected.ts';
import { createFleet, playExecution, type DemoAutomation, type DemoEvent } from './fleet.ts';
import { Ledger } from './ledger.ts';
import { Pace } from './pace.ts';
import { readOutcomes, type Outcomes } from './record.ts';
import { DemoError, reach } from './reach.ts';

export interface DemoOptions {
  api: string;
  console: string;
  tokenFile: string;
  readTokenFile: string;
  /** The declarations that standalone watches. */
  automationsFile: string;
  /** Approximate number of events to send: each execution is played to its end. */
  events: number;
  /** Events a second; 0 means as fast as possible. */
  rate: number;
  clients: number;
}

/** Longest wait for the last events in the record, in ms. */
const patience = 60_000;

/**
 * Plays the fleet, waits for the record and prints the table. True when the record, as the console
 * shows it, holds exactly the events that were sent.
 */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const token = await readToken(options.tokenFile);
  const readingToken = await readToken(options.readTokenFile);
  process.stdout.write(watchIt(options));
  const fleet = createFleet();
  const misbehaving = createMisbehaving();
  const isDeclared = await declare(options.automationsFile, misbehaving, fleet);
  const ledger = new Ledger(fleet);
  const pace = new Pace(options.rate);
  const began = performance.now();
  // Only on a terminal: a log needs no progress line that is redrawn.
  const progress = process.stdout.isTTY ? setInterval(() => showProgress(options, ledger, began), 250) : undefined;
  try {
    let played = 0;
    let planned = 0;
    const client = async (): Promise<void> => {
      while (planned < options.events) {
        const automation = fleet[played % fleet.length] as DemoAutomation;
        played += 1;
        const execution = playExecution(automation, played);
        planned += execution.events.length;
        for (const event of execution.events) {
          await pace.next();
          await send(options.api, token, event, ledger);
        }
        ledger.note(execution);
      }
    };
    await Promise.all(Array.from({ length: options.clients }, client));
  } finally {
    clearInterval(progress);
  }
  showProgress(options, ledger, began);
  const right = await report(options.console, readingToken, fleet, ledger);
  if (!isDeclared) {
    process.stdout.write(`\n${options.automationsFile} is not the demo's: no expectations are shown.\n`);
    return right;
  }
  process.stdout.write('\nThree automations miss, overrun and fail; their verdicts follow within a minute.\n');
  const single = new Ledger([]);
  const sendOne = (event: DemoEvent): Promise<void> => send(options.api, token, event, single);
  await misbehave(misbehaving, sendOne, options.console, readingToken);
  const verdicts = await verdictTable(misbehaving, sendOne, options.console, readingToken);
  process.stdout.write(`\n${verdicts ?? 'A verdict is missing.'}\n`);
  return right && verdicts !== undefined;
}

/** Tells a person where to watch the fleet at work. */
function watchIt({ console, readTokenFile }: DemoOptions): string {
  return `Watch it: ${console}/\n(log in with the link that \`make run\` printed, or with the token in ${readTokenFile})\n\n`;
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new DemoError(`there is no token in ${file}: is \`make run\` running, with the same DATA_DIR?`);
  }
}

/**
 * Sends an event until it is acknowledged. Repeats a rejected one after `Retry-After`, with the
 * same key: Runledger may have it already.
 */
async function send(api: string, token: string, event: DemoEvent, ledger: Ledger): Promise<void> {
  const headers = { token, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
  for (;;) {
    const answer = await reach(`${api}/v1/register/`, {
      method: 'POST',
      headers,
      body: JSON.stringify(event),
    });
    const body = await answer.text();
    if (answer.status === 201) {
      ledger.acknowledged += 1;
      return;
    }
    if (answer.status !== 503) throw new DemoError(`the API answered ${answer.status}: ${body}`);
    ledger.refused += 1;
    await sleep(Number(answer.headers.get('Retry-After') ?? 1) * 1_000);
  }
}

async function report(
  console: string,
  token: string,
  fleet: readonly DemoAutomation[],
  ledger: Ledger,
): Promise<boolean> {
  const deadline = performance.now() + patience;
  let stored: Outcomes[] = [];
  do {
    stored = await readOutcomes(console, token, fleet);
    if (ledger.matches(stored)) break;
    await sleep(500);
  } while (performance.now() < deadline);
  const right = ledger.matches(stored);
  const verdict = right ? 'The record holds just what was sent.' : 'The record does not hold what was sent.';
  process.stdout.write(`\n\n${ledger.table(stored)}\n\n${verdict}\n`);
  return right;
}

function showProgress(options: DemoOptions, ledger: Ledger, began: number): void {
  const seconds = (performance.now() - began) / 1_000;
  const share = Math.min(1, ledger.acknowledged / Math.max(1, options.events));
  const bar = '█'.repeat(Math.round(share * 30)).padEnd(30, '░');
  const rate = Math.round(ledger.acknowledged / seconds);
  process.stdout.write(`\r${bar} ${ledger.acknowledged} acknowledged, ${ledger.refused} refused, ${rate}/s `);
}
