import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createRecord } from '../../../internal/record/record.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { migratedDatabase } from '../../support/store.ts';

describe('groups of errors', () => {
  it('hold error ids and execution ids of any length that settings allow', async () => {
    await using database = await migratedDatabase();
    const errorId = randomBytes(50_000).toString('base64');
    const executionId = '\u{1F680}'.repeat(500);
    const now = Date.now();
    await recordEvents(database.db, [anEvent({ kind: 'ERROR', errorId, executionId, createdAt: now })]);
    const window = { from: new Date(now), to: new Date(now + 1) };
    const { items } = await createRecord(database.db).listErrors('acme', window, { limit: 5 });
    expect(items).to.have.length(1);
    expect(items[0]).to.include({ error_id: errorId, latest_execution_id: executionId, count: 1 });
  });
});
