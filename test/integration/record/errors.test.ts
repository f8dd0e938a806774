import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createQueries } from '../../../internal/record/queries.ts';
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
    const { items } = await createQueries(database.db).listErrors('acme', window, { limit: 5 });
    expect(items).to.have.length(1);
    expect(items[0]).to.include({ error_id: errorId, latest_execution_id: executionId, count: 1 });
  });

  it('belong to the window in which the errors happened, as executions do', async () => {
    await using database = await migratedDatabase();
    const record = createQueries(database.db);
    const [now, hour] = [Date.now(), 3_600_000];
    const error = { kind: 'ERROR', errorId: 'E' } as const;
    await recordEvents(database.db, [
      anEvent({ ...error, executionId: 'spooled', createdAt: now, occurredAt: now - 30 * hour }),
      anEvent({ ...error, executionId: 'newest', createdAt: now - 28 * hour }),
      anEvent({ ...error, executionId: 'ahead', createdAt: now - 26 * hour - 1, occurredAt: now - 26 * hour }),
    ]);
    const seen = async (from: number, to: number) => {
      const window = { from: new Date(now - from * hour), to: new Date(now - to * hour) };
      const { items } = await record.listErrors('acme', window, { limit: 5 });
      const counts = await record.countErrors('acme', { ...window, stepMs: hour });
      const { items: executions } = await record.listExecutions('acme', { ...window, errorId: 'E' }, { limit: 5 });
      const [group] = items;
      return [
        group && [group.count, Date.parse(group.first_seen_at) - now, Date.parse(group.last_seen_at) - now],
        group?.latest_execution_id,
        counts.reduce((sum, { count }) => sum + count, 0),
        executions.length,
      ];
    };
    expect(await seen(24, -1)).to.deep.equal([undefined, undefined, 0, 0]);
    expect(await seen(31, -1)).to.deep.equal([[3, -30 * hour, -26 * hour], 'ahead', 3, 3]);
    expect(await seen(31, 29)).to.deep.equal([[1, -30 * hour, -30 * hour], 'spooled', 1, 1]);
    expect(await seen(26, 25)).to.deep.equal([[1, -26 * hour, -26 * hour], 'ahead', 1, 1]);
  });
});
