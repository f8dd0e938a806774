import { expect } from 'chai';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Database } from '../../internal/store/database.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { runAdmin, type AdminRun } from './admin.ts';
import { anEvent } from './events.ts';
import { publicLogKey, seal, withLeaves } from './sealed-log.ts';

/** The sentences about what was lost, added or changed: a report without its verdict. */
export function findingsOf({ code, stdout, stderr }: AdminRun): string {
  const [verdict = '', ...findings] = stdout.split(/(?<=\n)/);
  expect(verdict, stderr).to.match(/^Something was lost, added or changed: [\d,]+ findings?\.\n$/);
  expect(code).to.equal(1);
  return findings.join('');
}

/** Runs the command in this process, for acme unless the arguments say otherwise. */
export async function runVerify(url: string, args: readonly string[], isTTY = false): Promise<AdminRun> {
  const key = args.includes('--public-key') ? [] : ['--public-key', publicLogKey];
  const organization = args.includes('--organization') ? [] : ['--organization', 'acme'];
  return runAdmin(['verify', ...key, ...organization, ...args], { env: { DATABASE_URL: url }, isTTY });
}

/** Seals the first 280 of these events, not in the order of ids, and one of globex. */
export async function seal280(db: Database, events: readonly AcceptedEvent[]): Promise<void> {
  await recordEvents(db, events.slice(140, 280), withLeaves);
  await recordEvents(db, events.slice(0, 140), withLeaves);
  await recordEvents(db, [anEvent({ organization: 'globex' })], withLeaves);
  await seal(db);
}
