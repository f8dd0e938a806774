import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { ManifestActs } from '../../internal/record/archive/manifest-acts.ts';
import { writeErasure } from '../../internal/ledger/erasure-text.ts';
import { appendAct } from '../../internal/store/ledger/append-act.ts';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { eraseEvents } from '../../internal/store/erase/erase.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent, someEvent } from '../support/events.ts';
import { macKey, seal, withLeaves } from '../support/sealed-log.ts';
import { writeExport, writeServed } from '../support/served-export.ts';
import { eachDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';

/** Random events: EVENTS=50000 is the whole. */
const count = Number(process.env['EVENTS'] ?? 3_000);

describe('a program that was written from the page for auditors', function suite() {
  this.timeout(180_000);
  const database = eachDatabase();
  const files = testFiles();

  it('makes the same leaves of events, erasures, acts and manifests', async () => {
    const { db } = database;
    const at = dayOf(Date.now()) - 12 * 3_600_000;
    const texts = fc.sample(someEvent, count).map((event, index) => {
      const { id, createdAt } = anEvent({ createdAt: at + (index % 4_000) });
      const occurredAt = index % 3 === 0 ? createdAt - index : undefined;
      return { ...event, id, createdAt, organization: 'acme', ...(occurredAt !== undefined && { occurredAt }) };
    });
    const named = Array.from({ length: 300 }, (_, index) =>
      anEvent({ createdAt: at + 5_000 + index, description: 'Ana Müller' }),
    );
    const gone = Array.from({ length: 50 }, (_, index) =>
      anEvent({ createdAt: at + 6_000 + index, executionId: 'gone' }),
    );
    const all = [...texts, ...named, ...gone];
    for (let from = 0; from < all.length; from += 5_000) {
      await recordEvents(db, all.slice(from, from + 5_000), withLeaves);
    }
    await seal(db, 10_000);
    const request = { organization: 'acme', before: new Date(), by: 'ana', reason: 'ticket "7" ü', macKey };
    const automationId = gone[0]?.automationId;
    const records: string[] = [];
    for (const scope of [{ text: 'müller' }, { automationId, executionId: 'gone' }]) {
      for await (const erasure of eraseEvents(db, { ...request, ...scope }, 100)) records.push(writeErasure(erasure));
    }
    await appendAct(db, macKey, {
      organization: 'acme',
      kind: 'retention-approved',
      by: 'ana',
      details: { before: '2026-11-20' },
    });
    const exported = await writeExport(db, files, { at, acts: new ManifestActs(db, macKey) });
    await seal(db);
    const args = [await writeServed(db, files), 'acme', exported, await files.write('erasures', records.join('\n'))];
    const { stdout } = await promisify(execFile)('python3', [join(import.meta.dirname, 'log_by_page.py'), ...args]);
    expect(stdout).to.equal(`${count + 300} events, 4 erasures, 2 acts, 50 erased\n`);
  });
});
