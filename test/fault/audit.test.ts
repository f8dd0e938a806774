import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { audit, flawless, type RowSource } from '../support/fault/audit.ts';
import { Ledger, type Body } from '../support/fault/ledger.ts';

const automation_id = randomUUID();
const created_at = new Date('2026-03-01T12:00:00.000Z');
const body: Body = { automation_id, execution_id: 'run', event: 'START', description: 'it' };
const columns = { organization: 'acme', automation_id, execution_id: 'run' };

/** A row of `events`. */
const event = (differs: object = {}): object => {
  const texts = { description: 'it', error_id: '', error_description: '' };
  return {
    ...columns,
    id: randomUUID(),
    automation_as_sent: null,
    kind: 'START',
    ...texts,
    created_at,
    occurred_at: null,
    ...differs,
  };
};

const times = { first_event_at: created_at, last_event_at: created_at, started_at: created_at };
const unset = { failed_at: null, ended_at: null, event_count: 0, warning_count: 0, error_count: 0, end_count: 0 };
const anomalies = { start_missing: false, start_late: false, event_after_end: false };

/** A row of `executions`. */
const execution = (starts: number, state = 'running'): object => {
  return { ...columns, state, ...times, ...unset, ...anomalies, start_count: starts, start_repeated: starts > 1 };
};

/** A database that holds these rows. */
function holding(events: object[], executions: object[], dead_letters: object[] = []): RowSource {
  const tables: Record<string, object[]> = { events, executions, dead_letters };
  return {
    query: <Row>(sql: string) => Promise.resolve((tables[/from (\w+)/.exec(sql)?.[1] ?? ''] ?? []) as Row[]),
  };
}

/** The ledger of one event, tried once for each status. Receipts say this description. */
function ledgerOf(statuses: number[], key?: string, description = 'it'): Ledger {
  const ledger = new Ledger();
  const entry = ledger.open(body, key);
  const { automation_id: automation, event: type_of_event, execution_id } = body;
  const texts = { description, error_id: '', error_description_detail: '' };
  const receipt = JSON.stringify({ automation, execution_id, type_of_event, ...texts, created_at });
  for (const status of statuses) ledger.record(entry, { begun: 0, ended: 1, status }, status === 201 ? receipt : '');
  return ledger;
}

describe('audit', () => {
  const find = (ledger: Ledger, database: RowSource) => audit(ledger, database, [automation_id], 'acme');
  const one = holding([event()], [execution(1)]);
  const two = holding([event(), event()], [execution(2)]);

  it('finds nothing when every receipt is a row', async () => {
    expect(await find(ledgerOf([201]), one)).to.include(flawless);
  });

  it('takes a row without a receipt only where the answer was ambiguous', async () => {
    for (const status of [0, 409, 502, 503, 504]) {
      expect(await find(ledgerOf([status]), one)).to.include({ ...flawless, withoutReceipt: 1 });
    }
    expect(await find(ledgerOf([400]), one)).to.include({ doubled: 1, invalidAnswers: 1 });
  });

  it('finds a receipt without a row, and one whose row has another time', async () => {
    expect(await find(ledgerOf([201]), holding([], []))).to.include({ lost: 1 });
    const other = holding([event({ created_at: new Date(created_at.getTime() + 1) })], [execution(1)]);
    expect(await find(ledgerOf([201]), other)).to.include({ lost: 1, doubled: 1 });
  });

  it('finds a row too many', async () => {
    expect(await find(ledgerOf([201]), two)).to.include({ doubled: 1 });
    expect(await find(ledgerOf([503, 201]), two)).to.include(flawless);
    expect(await find(ledgerOf([503, 201], 'key'), two)).to.include({ doubled: 1 });
  });

  it('finds a wrong outcome, and an execution that is not there', async () => {
    for (const executions of [[execution(1, 'succeeded')], []]) {
      expect((await find(ledgerOf([201]), holding([event()], executions))).wrong).to.be.above(0);
    }
  });

  it('finds what nobody sent, changed content, dead letters and receipts that do not repeat the event', async () => {
    const unexpected = [
      holding([event(), event({ description: 'other' })], [execution(2)]),
      holding([event({ error_id: 'E' })], [execution(1)]),
      holding([event()], [execution(1)], [{ id: '1', reason: 'r' }]),
    ];
    for (const rows of unexpected) expect(await find(ledgerOf([201]), rows)).to.include({ unexpected: 1 });
    expect(ledgerOf([201], undefined, 'something else').invalidAnswers).to.have.lengthOf(1);
  });
});
