import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { audit } from '../support/fault/audit.ts';
import { Ledger, type Body } from '../support/fault/ledger.ts';
import type { RowSource } from '../support/fault/rows.ts';

const automation_id = randomUUID();
const told = '2026-03-01T12:00:00.000Z';

function bodyOf(description: string): Body {
  return { automation_id, execution_id: 'run', event: 'START', description };
}

function receiptOf({ automation_id, execution_id, event, description }: Body, created_at = told): string {
  return JSON.stringify({
    automation: automation_id,
    execution_id,
    type_of_event: event,
    description,
    error_id: '',
    error_description_detail: '',
    created_at,
  });
}

const event = (description: string, created_at = told) => ({
  id: randomUUID(),
  organization: 'acme',
  automation_id,
  automation_as_sent: null,
  execution_id: 'run',
  kind: 'START',
  description,
  error_id: '',
  error_description: '',
  created_at: new Date(created_at),
});

const execution = (starts: number, state = 'running') => ({
  organization: 'acme',
  automation_id,
  execution_id: 'run',
  state,
  first_event_at: new Date(told),
  last_event_at: new Date(told),
  started_at: new Date(told),
  failed_at: null,
  ended_at: null,
  start_count: starts,
  event_count: 0,
  warning_count: 0,
  error_count: 0,
  end_count: 0,
  start_missing: false,
  start_repeated: starts > 1,
  start_late: false,
  event_after_end: false,
});

/** A database that holds these rows. */
function holding(events: object[], executions: object[], deadLetters: object[] = []): RowSource {
  const tables = { events, executions, dead_letters: deadLetters };
  return {
    query: <Row extends object>(sql: string) => {
      const name = /from (\w+)/.exec(sql)?.[1] as keyof typeof tables;
      return Promise.resolve(tables[name] as Row[]);
    },
  };
}

/** The ledger of one event, tried once for each status. */
function ledgerOf(statuses: number[], key?: string): Ledger {
  const ledger = new Ledger();
  const body = bodyOf('it');
  const entry = ledger.open(body, key);
  for (const status of statuses)
    ledger.record(entry, { begun: 0, ended: 1, status }, status === 201 ? receiptOf(body) : '');
  return ledger;
}

describe('audit', () => {
  const find = (ledger: Ledger, database: RowSource) => audit(ledger, database, [automation_id], 'acme');
  const nothing = { lost: 0, doubled: 0, wrong: 0, unexpected: 0, invalidAnswers: 0 };

  it('finds nothing when every receipt is a row', async () => {
    expect(await find(ledgerOf([201]), holding([event('it')], [execution(1)]))).to.include(nothing);
  });

  it('takes a row without a receipt only where the answer was ambiguous', async () => {
    const database = holding([event('it')], [execution(1)]);
    for (const status of [0, 409, 502, 503, 504]) {
      expect(await find(ledgerOf([status]), database)).to.include({ ...nothing, withoutReceipt: 1 });
    }
    expect(await find(ledgerOf([400]), database)).to.include({ doubled: 1, invalidAnswers: 1 });
  });

  it('finds a receipt without a row, and one whose row has another time', async () => {
    expect(await find(ledgerOf([201]), holding([], []))).to.include({ lost: 1 });
    const other = holding([event('it', '2026-03-01T12:00:00.001Z')], [execution(1)]);
    expect(await find(ledgerOf([201]), other)).to.include({ lost: 1, doubled: 1 });
  });

  it('finds a row too many', async () => {
    const two = holding([event('it'), event('it')], [execution(2)]);
    expect(await find(ledgerOf([201]), two)).to.include({ doubled: 1 });
    expect(await find(ledgerOf([503, 201]), two)).to.include(nothing);
    expect(await find(ledgerOf([503, 201], 'key'), two)).to.include({ doubled: 1 });
  });

  it('finds a wrong outcome, and an execution that is not there', async () => {
    const wrong = holding([event('it')], [execution(1, 'succeeded')]);
    expect((await find(ledgerOf([201]), wrong)).wrong).to.be.above(0);
    expect((await find(ledgerOf([201]), holding([event('it')], []))).wrong).to.be.above(0);
  });

  it('finds what nobody sent, changed content, dead letters and receipts that do not repeat the event', async () => {
    const extra = holding([event('it'), event('other')], [execution(2)]);
    expect(await find(ledgerOf([201]), extra)).to.include({ unexpected: 1 });
    const changed = holding([{ ...event('it'), error_id: 'E' }], [execution(1)]);
    expect(await find(ledgerOf([201]), changed)).to.include({ unexpected: 1 });
    const dead = holding([event('it')], [execution(1)], [{ id: '1', reason: 'r' }]);
    expect(await find(ledgerOf([201]), dead)).to.include({ unexpected: 1 });
    const ledger = new Ledger();
    const entry = ledger.open(bodyOf('it'), undefined);
    ledger.record(entry, { begun: 0, ended: 1, status: 201 }, receiptOf(bodyOf('something else')));
    expect(ledger.invalidAnswers).to.have.lengthOf(1);
  });
});
