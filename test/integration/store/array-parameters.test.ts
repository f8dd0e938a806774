import { expect } from 'chai';
import * as fc from 'fast-check';
import { booleanArray, bytesArray, textArray, timeArray, uuidArray } from '../../../internal/store/array-parameters.ts';
import { sql } from '../../../internal/store/sql.ts';
import { eachDatabase } from '../../support/store.ts';

// Postgres takes no NUL, and half a surrogate pair is no character.
const text = fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.replaceAll('\0', '').toWellFormed());
const time = fc.integer({ min: 0, max: 253_402_300_799_999 });
const uuid = fc.uuid().chain((value) => fc.constantFrom(value, value.toUpperCase()));
const bytes = fc.uint8Array({ maxLength: 20 }).map((values) => Buffer.from(values));
const row = fc.record({ text: fc.option(text), isTrue: fc.boolean(), time: fc.option(time), uuid, bytes });

/** The embedded Postgres is sent such arrays in `embedded.test.ts`. */
describe('arrays as parameters', () => {
  const database = eachDatabase();

  it('arrive as they were sent', () =>
    fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (sent) => {
        const { rows } = await sql<{
          text: string | null;
          isTrue: boolean;
          time: Date | null;
          uuid: string;
          bytes: Buffer;
        }>`
          select * from unnest(
            ${textArray(sent.map((each) => each.text))}, ${booleanArray(sent.map((each) => each.isTrue))},
            ${timeArray(sent.map((each) => each.time))}, ${uuidArray(sent.map((each) => each.uuid))},
            ${bytesArray(sent.map((each) => each.bytes))}
          ) as t (text, "isTrue", time, uuid, bytes)
        `.execute(database.db);
        const found = rows.map((each) => ({ ...each, time: each.time && each.time.getTime() }));
        expect(found).to.deep.equal(sent.map((each) => ({ ...each, uuid: each.uuid.toLowerCase() })));
      }),
      { numRuns: 200 },
    ));

  for (const wrong of ['no-uuid', '0123456789ab-4cde-8f01-23456789-ab-cdef', '01234567-89ab-4cde-8f01-23456789abcg'])
    it(`are refused by Postgres, which names the text ${wrong}`, async () => {
      const query = sql`select ${uuidArray(['01234567-89ab-4cde-8f01-23456789abcd', wrong])}`.execute(database.db);
      expect(await query.catch(String))
        .to.include('invalid input syntax for type uuid')
        .and.include(wrong);
    });
});
