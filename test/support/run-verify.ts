import { expect } from 'chai';
import { run } from '../../cmd/verify/run.ts';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Database } from '../../internal/store/database.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent } from './events.ts';
import { publicLogKey, seal, withLeaves } from './sealed-ledger.ts';

/** What a run of the command verify printed, and its exit code. */
export interface Verified {
  code: number;
  stdout: string;
  stderr: string;
}

/** The sentences about what was lost, added or changed: a report without its verdict. */
export function findingsOf({ code, stdout, stderr }: Verified): string {
  const [verdict = '', ...findings] = stdout.split(/(?<=\n)/);
  expect(verdict, stderr).to.match(/^Something was lost, added or changed: [\d,]+ findings?\.\n$/);
  expect(code).to.equal(1);
  return findings.join('');
}

/** Runs the command in this process, for acme unless the arguments say otherwise. */
export async function runVerify(url: string, args: readonly string[], isTTY = false): Promise<Verified> {
  let [stdout, stderr] = ['', ''];
  const key = args.includes('--public-key') ? [] : ['--public-key', publicLogKey];
  const organization = args.includes('--organization') ? [] : ['--organization', 'acme'];
  const code = await run([...key, ...organization, ...args], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { isTTY, write: (text) => (stderr += text) },
    env: { DATABASE_URL: url },
  });
  return { code, stdout, stderr };
}

/** Seals the first 280 of these events, not in the order of ids, and one of globex. */
export async function seal280(db: Database, events: readonly AcceptedEvent[]): Promise<void> {
  await recordEvents(db, events.slice(140, 280), withLeaves);
  await recordEvents(db, events.slice(0, 140), withLeaves);
  await recordEvents(db, [anEvent({ organization: 'globex' })], withLeaves);
  await seal(db);
}
