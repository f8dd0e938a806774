import { expect } from 'chai';
import * as fc from 'fast-check';
import { sealOf } from '../../../internal/event/digest.ts';
import { leafOf, readLeaf, splitLeaves } from '../../../internal/ledger/leaf.ts';
import { storedJson } from '../../../internal/ledger/stored-json.ts';
import type { Database } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { readStoredEvents, type StoredPage } from '../../../internal/store/stored-events.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { eachDatabase } from '../../support/store.ts';
import { withLeaves } from '../../support/sealed-log.ts';

/** The leaves that wait for the sealer, by organization. */
async function waitingLeaves(db: Database): Promise<Record<string, Buffer[]>> {
  const segments = await db.selectFrom('log_segments').selectAll().orderBy('id').execute();
  const leaves: Record<string, Buffer[]> = {};
  for (const { organization, leaves: bytes } of segments) (leaves[organization] ??= []).push(...splitLeaves(bytes));
  return leaves;
}

const sorted = (leaves: readonly Buffer[]): string[] => leaves.map((leaf) => leaf.toString('hex')).sort();

describe('the leaves of stored events', () => {
  const database = eachDatabase();

  it('are those of the rows, one for each, whatever the events hold', async () => {
    const { db } = database;
    const sample = fc.sample(someEvent, { numRuns: 300, seed: 33 });
    const events = sample.map((event, at) => (at % 2 === 0 ? event : { ...event, seal: sealOf(event) }));
    const odd = anEvent({
      description: '\u0001\b\f\n\r\t"\\/\u007f\u2028é😀',
      occurredAt: Date.parse('0099-01-01T00:00:00Z'),
    });
    const ancient = anEvent({ occurredAt: Date.parse('-000043-03-15T12:00:00Z') });
    const separated = anEvent({ description: 'before\u001fafter', automationId: odd.automationId.toUpperCase() });
    await recordEvents(db, [...events, odd, ancient, separated], withLeaves);

    const rows = await db.selectFrom('events').selectAll().orderBy('created_at').orderBy('id').execute();
    expect(rows).to.have.lengthOf(303);
    const found = await waitingLeaves(db);
    for (const organization of ['acme', 'globex']) {
      const own = rows.filter((row) => row.organization === organization);
      expect(sorted(found[organization] ?? [])).to.deep.equal(sorted(own.map((row) => leafOf(row))));
      for (const pageSize of [9, 1_000]) {
        const pages: StoredPage[] = [];
        for await (const page of readStoredEvents(db, { organization, pageSize })) pages.push(page);
        expect(Buffer.concat(pages.map(({ leaves }) => leaves))).to.deep.equal(
          Buffer.concat(own.map((row) => leafOf(row))),
        );
        expect(pages.flatMap(({ times }) => times)).to.deep.equal(own.map((row) => row.created_at.getTime()));
        const read = pages.flatMap(({ ids, eventAt }) => ids.map((_, at) => eventAt(at)));
        expect(read.map((event) => leafOf(event))).to.deep.equal(own.map((row) => leafOf(row)));
        expect(read.map((event) => storedJson(event))).to.deep.equal(own.map((row) => storedJson(row)));
      }
    }
    expect(await db.selectFrom('log_segments').selectAll().execute()).to.have.lengthOf(2);
  });

  it('are only those of events that were really inserted', async () => {
    const { db } = database;
    const [first, second, third] = [anEvent(), anEvent(), anEvent()];
    await recordEvents(db, [first], withLeaves);
    await recordEvents(db, [first, second, second], withLeaves);
    await recordEvents(db, [first, second], withLeaves);
    // The statement fails for the third event, so that nothing of it is stored.
    const refused = { ...third, kind: 'OTHER' as 'END' };
    expect(await failureOf(recordEvents(db, [third, refused], withLeaves))).to.be.instanceOf(Error);

    const found = (await waitingLeaves(db))['acme'] ?? [];
    expect(found.map((leaf) => readLeaf(leaf).id)).to.deep.equal([first.id, second.id]);
    const rows = await db.selectFrom('events').selectAll().execute();
    expect(sorted(found)).to.deep.equal(sorted(rows.map((row) => leafOf(row))));
  });

  it('are none without a log, and the rows have no salts, also of events that ingest has sealed', async () => {
    const event = anEvent({ description: 'x' });
    await recordEvents(database.db, [anEvent({ description: 'y' }), { ...event, seal: sealOf(event) }]);
    const rows = await database.db.selectFrom('events').select('salt').execute();
    expect(rows).to.deep.equal([{ salt: null }, { salt: null }]);
    expect(await waitingLeaves(database.db)).to.deep.equal({});
  });
});
