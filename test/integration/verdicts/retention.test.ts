import { expect } from 'chai';
import type { DeclaredExpectation } from '../../../internal/expectation/automation.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declare, tickAt } from '../../support/expectations.ts';
import { day, keepAll, midnight } from '../../support/maintenance-day.ts';
import { automationId, told } from '../../support/one-day.ts';
import { eachDatabase } from '../../support/store.ts';

const hour = day / 24;
const retained = { ...keepAll, retentionDays: 3 };

/** 02:00, some days before the maintenance. */
const at = (daysBefore: number): number => midnight - daysBefore * day + 2 * hour;

describe('verdicts when retention has deleted the last run', () => {
  const database = eachDatabase();

  const declared = async (expected: DeclaredExpectation, declaredAt: number) => {
    await maintain(database.db, keepAll);
    await declare(database.db, { automationId, expect: expected, declaredAt });
  };

  const run = async (start: number) => {
    const executionId = new Date(start).toISOString();
    await recordEvents(database.db, [
      anEvent({ automationId, createdAt: start, kind: 'START', executionId }),
      anEvent({ automationId, createdAt: start + 60_000, kind: 'END', executionId }),
    ]);
  };

  const transitionsAt = async (time: number) => told((await tickAt(database.db, time)).transitions);

  const forget = async () => {
    await maintain(database.db, retained);
    expect(await database.db.selectFrom('executions').select('execution_id').execute()).to.deep.equal([]);
  };

  for (const [title, expected] of [
    ['a weekly run', { schedule: `0 2 * * ${new Date(at(4)).getUTCDay()}` }],
    ['an interval of a week', { every: '7d' }],
  ] as const) {
    it(`are none for ${title} that was on time, and the next one is judged as usual`, async () => {
      await declared(expected, at(11) - hour);
      for (const weeks of [1, 0]) {
        await run(at(4 + weeks * 7) + 1_000);
        expect(await transitionsAt(at(4 + weeks * 7) + hour)).to.deep.equal([]);
      }
      await forget();
      expect(await transitionsAt(midnight + hour)).to.deep.equal([]);
      await run(at(-3) - 60_000);
      expect(await transitionsAt(at(-3) + hour)).to.deep.equal([]);
      expect(await transitionsAt(at(-4))).to.deep.equal([]);
    });
  }

  it('stay open for an automation that has stopped', async () => {
    await declared({ schedule: '0 2 * * *' }, at(6) - hour);
    for (const daysBefore of [6, 5, 4]) {
      await run(at(daysBefore));
      expect(await transitionsAt(at(daysBefore) + hour)).to.deep.equal([]);
    }
    const missing = `missing ${new Date(at(3)).toISOString()}`;
    expect(await transitionsAt(at(3) + hour)).to.deep.equal([`opened ${missing}`]);
    await forget();
    expect(await transitionsAt(midnight + hour)).to.deep.equal([]);
    expect(await transitionsAt(at(0) + hour)).to.deep.equal([]);
    const { verdict } = await database.db.selectFrom('automations').select('verdict').executeTakeFirstOrThrow();
    expect(verdict).to.have.nested.property('[0].facts.last_started_at', new Date(at(4)).toISOString());
    await run(at(-1));
    expect(await transitionsAt(at(-1) + hour)).to.deep.equal([`resolved ${missing}`]);
  });
});
