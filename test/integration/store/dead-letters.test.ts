import { expect } from 'chai';
import { keepDeadLetter } from '../../../internal/store/dead-letters.ts';
import { isDataError } from '../../../internal/store/errors.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { eachDatabase } from '../../support/store.ts';

/** What Postgres refuses, in each field that can hold it. */
const bad: Record<string, Partial<AcceptedEvent>> = {
  'NUL in the organization': { organization: 'a\0b' },
  'NUL in the description': { description: '\0' },
  'NUL in the id': { id: 'a\0b' },
  'an id that is no UUID': { id: 'not a uuid' },
  'an automation that is no UUID': { automationId: '{' },
  'an unknown kind': { kind: 'PAUSE' as AcceptedEvent['kind'] },
  'an execution_id too long for an index': { executionId: randomText(5_000) },
  'an organization too long for an index': { organization: randomText(5_000) },
};

/** Long values are compressed before they are measured: a repeated letter would fit. */
function randomText(length: number): string {
  return Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000))).join('');
}

describe('dead letters', () => {
  const database = eachDatabase();

  for (const [name, fields] of Object.entries(bad)) {
    it(`keep an event with ${name}, whole, with the reason, once`, async () => {
      const { db } = database;
      const event = anEvent(fields);
      const error = await failureOf(recordEvents(db, [event]));
      expect(isDataError(error), String(error)).to.equal(true);
      expect(await keepDeadLetter(db, { ...event, seal: '\0'.repeat(32) }, 'why\0')).to.equal(true);
      expect(await keepDeadLetter(db, event, 'why\0')).to.equal(false);
      const rows = await db.selectFrom('dead_letters').selectAll().execute();
      const letters = rows.map((row) => JSON.parse(Buffer.from(row.event).toString()) as unknown);
      expect(letters.filter((letter) => JSON.stringify(letter) === JSON.stringify(event))).to.have.length(1);
      expect(rows.at(-1)?.reason).to.equal('why\uFFFD');
    });
  }
});
