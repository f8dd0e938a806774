import { expect } from 'chai';
import { countRunning } from '../../../internal/store/count-running.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { migratedDatabase } from '../../support/store.ts';

const noon = Date.parse('2026-11-21T12:00:00Z');
const at = (executionId: string, kind: 'START' | 'EVENT' | 'END' | 'ERROR', minute: number) =>
  anEvent({
    id: `0190a0b0-0000-7000-8000-${executionId}${kind.length}${String(minute).padStart(8, '0')}`,
    executionId,
    kind,
    createdAt: noon + minute * 60_000,
  });

describe('executions, as metrics tell of them', () => {
  it('are counted while they run, and those that began before a time', async () => {
    await using database = await migratedDatabase();
    const events = [at('100', 'START', 0), at('200', 'START', 10), at('300', 'START', 0), at('300', 'END', 1)];
    await recordEvents(database.db, [...events, at('400', 'START', 0), at('400', 'ERROR', 1)]);
    expect(await countRunning(database.db, noon + 5 * 60_000)).to.deep.equal({ running: 2, overdue: 1 });
  });

  it('show which order their events break, when they do', async () => {
    await using database = await migratedDatabase();
    const record = async (...events: Parameters<typeof recordEvents>[1]) =>
      (await recordEvents(database.db, events)).anomalies;
    const none = { start_missing: 0, start_repeated: 0, start_late: 0, event_after_end: 0 };
    expect(await record(at('100', 'START', 0), at('100', 'END', 1))).to.deep.equal(none);
    expect(await record(at('200', 'EVENT', 0)), 'START may be stored by another worker yet').to.deep.equal(none);
    expect(await record(at('300', 'EVENT', 0), at('300', 'END', 1))).to.deep.equal({ ...none, start_missing: 1 });
    expect(await record(at('200', 'START', 1))).to.deep.equal({ ...none, start_late: 1 });
    expect(await record(at('200', 'START', 2))).to.deep.equal({ ...none, start_repeated: 1 });
    expect(await record(at('100', 'EVENT', 2))).to.deep.equal({ ...none, event_after_end: 1 });
    expect(await record(at('100', 'EVENT', 2)), 'a duplicate breaks nothing').to.deep.equal(none);
  });
});
