import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { booleanArray, textArray, timeArray, uuidArray } from '../../../internal/store/array-parameters.ts';
import type { Database } from '../../../internal/store/database.ts';
import { openEmbedded } from '../../../internal/store/embedded.ts';
import { sql } from '../../../internal/store/sql.ts';
import { eachDatabase } from '../../support/store.ts';

// Postgres takes no NUL, and half a surrogate pair is no character.
const text = fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.replaceAll('\0', '').toWellFormed());
const time = fc.integer({ min: 0, max: 253_402_300_799_999 });
const uuid = fc.uuid().chain((value) => fc.constantFrom(value, value.toUpperCase()));
const rows = fc.array(fc.record({ text: fc.option(text), isTrue: fc.boolean(), time: fc.option(time), uuid }), {
  maxLength: 20,
});

describe('arrays as parameters', () => {
  const database = eachDatabase();

  const returned = async (db: Database, sent: typeof rows extends fc.Arbitrary<infer T> ? T : never) => {
    const { rows: found } = await sql<{ text: string | null; isTrue: boolean; time: Date | null; uuid: string }>`
      select * from unnest(
        ${textArray(sent.map((row) => row.text))}, ${booleanArray(sent.map((row) => row.isTrue))},
        ${timeArray(sent.map((row) => row.time))}, ${uuidArray(sent.map((row) => row.uuid))}
      ) as t (text, "isTrue", time, uuid)
    `.execute(db);
    return found.map((row) => ({ ...row, time: row.time && row.time.getTime() }));
  };
  const arrive = fc.asyncProperty(rows, async (sent) => {
    const expected = sent.map((row) => ({ ...row, uuid: row.uuid.toLowerCase() }));
    expect(await returned(database.db, sent)).to.deep.equal(expected);
  });

  it('arrive as they were sent', () => fc.assert(arrive, { numRuns: 200 }));

  it('arrive in the embedded Postgres too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-arrays-'));
    const db = await openEmbedded(folder);
    const sent = [{ text: 'naïve ✓ "\\', isTrue: true, time: 1, uuid: '01234567-89AB-4cde-8f01-23456789abcd' }];
    const [found] = await returned(db, sent);
    await db.destroy();
    await rm(folder, { recursive: true });
    expect(found).to.deep.equal({ ...sent[0], uuid: '01234567-89ab-4cde-8f01-23456789abcd' });
  });

  for (const wrong of ['no-uuid', '0123456789ab-4cde-8f01-23456789-ab-cdef', '01234567-89ab-4cde-8f01-23456789abcg'])
    it(`are refused by Postgres, which names the text ${wrong}`, async () => {
      const query = sql`select ${uuidArray(['01234567-89ab-4cde-8f01-23456789abcd', wrong])}`.execute(database.db);
      expect(await query.catch(String))
        .to.include('invalid input syntax for type uuid')
        .and.include(wrong);
    });
});
