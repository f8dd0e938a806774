import type { Selectable } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { optionalFields, optionalTexts } from '../../../internal/event/fields.ts';
import type { EventsTable } from '../../../internal/store/tables/events-table.ts';
import type { ExecutionsTable } from '../../../internal/store/tables/executions-table.ts';
import { executionsOf, keyText, type Execution } from '../outcome-oracle.ts';
import { eventOf, executionOf } from '../store.ts';
import { receiptsOf, type Entry, type Ledger } from './ledger.ts';

/** An audit that found nothing wrong. */
export const flawless = {
  /** Receipts without a row of that content and time. */
  lost: 0,
  /** Rows beyond what the attempts allow: two for one receipt, or for one Idempotency-Key. */
  doubled: 0,
  /** Executions whose stored outcome is not what the oracle says of their events. */
  wrong: 0,
  /** Rows that nobody sent, or whose content differs, and dead letters. */
  unexpected: 0,
  /** Answers that a correct client may never get. */
  invalidAnswers: 0,
};

/** What the comparison of a ledger with Postgres found. */
export type Audit = typeof flawless & {
  /** Rows without a receipt, where the answer was ambiguous. */
  withoutReceipt: number;
  rows: number;
  executions: number;
  /** The first few findings, in words. */
  findings: string[];
};

/** Where rows can be read. */
export interface RowSource {
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
}

type Find = (kind: 'lost' | 'doubled' | 'wrong' | 'unexpected', text: string) => void;

/** Compares all answers that callers got with all rows of these automations. */
export async function audit(
  ledger: Ledger,
  database: RowSource,
  automations: string[],
  organization: string,
): Promise<Audit> {
  const read = <Row extends object>(table: string): Promise<Row[]> =>
    database.query<Row>(`select * from ${table} where automation_id = any($1::uuid[])`, [automations]);
  const events = (await read<Selectable<EventsTable>>('events')).map(eventOf);
  const executions = (await read<Selectable<ExecutionsTable>>('executions')).map(executionOf);
  const stored = new Map(executions.map((execution) => [keyText(execution), execution]));
  const result: Audit = {
    ...flawless,
    invalidAnswers: ledger.invalidAnswers.length,
    withoutReceipt: 0,
    rows: events.length,
    executions: stored.size,
    findings: ledger.invalidAnswers.slice(0, 5),
  };
  const find: Find = (kind, text) => {
    result[kind] += 1;
    if (result.findings.length < 30) result.findings.push(`${kind}: ${text}`);
  };
  const rowsOf = Map.groupBy(events, (event) => event.description);
  for (const entry of ledger.entries) {
    result.withoutReceipt += compareEntry(entry, rowsOf.get(entry.body.description) ?? [], find);
    rowsOf.delete(entry.body.description);
  }
  for (const [description, rows] of rowsOf)
    find('unexpected', `${rows.length} rows that nobody sent: ${description.slice(0, 80)}`);
  const expected = executionsOf(events);
  if (stored.size !== expected.size) find('wrong', `${stored.size} executions stored, ${expected.size} expected`);
  compareOutcomes('stored events', expected, stored, find);
  compareOutcomes('the ledger', executionsOf(certainEvents(ledger, organization)), stored, find);
  const letters = await database.query<{ id: string; reason: string }>('select id, reason from dead_letters');
  for (const { id, reason } of letters) find('unexpected', `dead letter ${id}: ${reason}`);
  return result;
}

/** Returns how many rows have no receipt. */
function compareEntry(entry: Entry, rows: AcceptedEvent[], find: Find): number {
  const { body, attempts, idempotencyKey } = entry;
  const tries = attempts.map(({ status, createdAt }) => createdAt ?? status).join(' ');
  const times = rows.map((row) => new Date(row.createdAt).toISOString());
  const said = `${body.event} ${body.description.slice(0, 36)} of ${body.execution_id}, stored ${times.join(', ')}; tries ${tries}`;
  for (const row of rows) if (!sameContent(entry, row)) find('unexpected', `content differs: ${said}`);
  for (const time of receiptsOf(entry)) {
    const index = times.indexOf(time);
    if (index === -1) find('lost', `receipt of ${time}: ${said}`);
    else times.splice(index, 1);
  }
  const ambiguous = attempts.filter(({ verdict }) => verdict === 'ambiguous').length;
  const keyedTwice = idempotencyKey !== undefined && rows.length > 1;
  if (times.length > ambiguous || keyedTwice) find('doubled', `${rows.length} rows: ${said}`);
  return times.length;
}

function sameContent({ body }: Entry, row: AcceptedEvent): boolean {
  return (
    row.automationId === body.automation_id &&
    row.executionId === body.execution_id &&
    row.kind === body.event &&
    optionalFields.every(({ property, request }) => row[property] === (body[request] ?? '')) &&
    row.occurredAt === (body.occurred_at === undefined ? undefined : Date.parse(body.occurred_at))
  );
}

/** The events of executions that got only receipts: the ledger alone says what is stored. */
function certainEvents(ledger: Ledger, organization: string): AcceptedEvent[] {
  const executions = Map.groupBy(ledger.entries, ({ body }) =>
    JSON.stringify([body.automation_id.toLowerCase(), body.execution_id]),
  );
  const certain = [...executions.values()].filter((entries) =>
    entries.every(({ attempts }) => attempts.every(({ verdict }) => verdict === 'receipt')),
  );
  return certain.flat().flatMap((entry) =>
    receiptsOf(entry).map((time, index) => ({
      id: `${entry.body.description} ${index}`,
      organization,
      automationId: entry.body.automation_id,
      executionId: entry.body.execution_id,
      kind: entry.body.event,
      ...optionalTexts(({ request }) => entry.body[request] ?? ''),
      createdAt: Date.parse(time),
      ...(entry.body.occurred_at !== undefined && { occurredAt: Date.parse(entry.body.occurred_at) }),
    })),
  );
}

function compareOutcomes(
  source: string,
  expected: Map<string, Execution>,
  stored: Map<string, Execution>,
  find: Find,
): void {
  for (const [key, execution] of expected) {
    const [wanted, found] = [canonical(execution), canonical(stored.get(key))];
    if (wanted !== found) find('wrong', `${key} by ${source}: expected ${wanted}, stored ${found}`);
  }
}

function canonical(execution: Execution | undefined): string {
  return JSON.stringify(Object.entries(execution ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}
