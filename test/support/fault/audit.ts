import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { executionsOf, keyText, type Execution } from '../outcome-oracle.ts';
import type { Entry, Ledger } from './ledger.ts';
import { readEvents, readExecutions, type RowSource } from './rows.ts';

/** What the comparison of the ledger with Postgres found. All of the first five must be zero. */
export interface Audit {
  /** Receipts without a row of that content and time. */
  lost: number;
  /** Rows beyond what the tries allow: two for one receipt, or for one Idempotency-Key. */
  doubled: number;
  /** Executions whose stored outcome is not what the oracle says of their events. */
  wrong: number;
  /** Rows that nobody sent, or whose content differs, and dead letters. */
  unexpected: number;
  /** Answers that a correct client may never get. */
  invalidAnswers: number;
  /** Rows without a receipt, where the answer was ambiguous. */
  withoutReceipt: number;
  rows: number;
  executions: number;
  /** The first few findings, in words. */
  findings: string[];
}

/**
 * Compares everything that callers were told with everything that is stored of the automations
 * given.
 */
export async function audit(
  ledger: Ledger,
  database: RowSource,
  automations: string[],
  organization: string,
): Promise<Audit> {
  const events = await readEvents(database, automations);
  const stored = await readExecutions(database, automations);
  const result: Audit = {
    lost: 0,
    doubled: 0,
    wrong: 0,
    unexpected: 0,
    invalidAnswers: ledger.invalidAnswers.length,
    withoutReceipt: 0,
    rows: events.length,
    executions: stored.size,
    findings: ledger.invalidAnswers.slice(0, 5),
  };
  const find = (kind: 'lost' | 'doubled' | 'wrong' | 'unexpected', text: string): void => {
    result[kind] += 1;
    if (result.findings.length < 30) result.findings.push(`${kind}: ${text}`);
  };
  const rowsOf = Map.groupBy(events, (event) => event.description);
  for (const entry of ledger.entries) {
    compareEntry(entry, rowsOf.get(entry.body.description) ?? [], result, find);
    rowsOf.delete(entry.body.description);
  }
  for (const [description, rows] of rowsOf)
    find('unexpected', `${rows.length} rows that nobody sent: ${description.slice(0, 80)}`);
  compareOutcomes('stored events', executionsOf(events), stored, find);
  compareOutcomes('the ledger', executionsOf(certainEvents(ledger, organization)), stored, find);
  const letters = await database.query<{ id: string; reason: string }>('select id, reason from dead_letters');
  for (const { id, reason } of letters) find('unexpected', `dead letter ${id}: ${reason}`);
  return result;
}

type Find = (kind: 'lost' | 'doubled' | 'wrong' | 'unexpected', text: string) => void;

function compareEntry(entry: Entry, rows: AcceptedEvent[], result: Audit, find: Find): void {
  const name = `${entry.body.event} ${entry.body.description.slice(0, 36)} of ${entry.body.execution_id}`;
  const receipts = entry.attempts.flatMap(({ createdAt }) => createdAt ?? []);
  const told = entry.idempotencyKey === undefined ? receipts : [...new Set(receipts)];
  const times = rows.map((row) => new Date(row.createdAt).toISOString());
  for (const row of rows) if (!sameContent(entry, row)) find('unexpected', `content differs: ${name}`);
  for (const time of told) {
    const index = times.indexOf(time);
    if (index === -1)
      find('lost', `${name}, receipt of ${time}, stored ${times.join(', ') || 'nothing'}; tries ${tries(entry)}`);
    else times.splice(index, 1);
  }
  result.withoutReceipt += times.length;
  const ambiguous = entry.attempts.filter(({ verdict }) => verdict === 'ambiguous').length;
  const keyedTwice = entry.idempotencyKey !== undefined && rows.length > 1;
  if (times.length > ambiguous || keyedTwice) find('doubled', `${name}, ${rows.length} rows; tries ${tries(entry)}`);
}

function sameContent({ body }: Entry, row: AcceptedEvent): boolean {
  return (
    row.automationId === body.automation_id &&
    row.executionId === body.execution_id &&
    row.kind === body.event &&
    row.errorId === (body.error_id ?? '') &&
    row.errorDescription === (body.error_description ?? '')
  );
}

function tries(entry: Entry): string {
  return entry.attempts.map(({ status, createdAt }) => createdAt ?? status).join(' ');
}

/**
 * The events of executions of which every answer was a receipt: there the ledger alone says what
 * must be stored.
 */
function certainEvents(ledger: Ledger, organization: string): AcceptedEvent[] {
  const executionOf = (entry: Entry): string =>
    keyText({
      organization,
      automationId: entry.body.automation_id.toLowerCase(),
      executionId: entry.body.execution_id,
    });
  const uncertain = new Set(
    ledger.entries.filter(({ attempts }) => attempts.some(({ verdict }) => verdict !== 'receipt')).map(executionOf),
  );
  return ledger.entries
    .filter((entry) => !uncertain.has(executionOf(entry)))
    .flatMap((entry) => {
      const receipts = entry.attempts.flatMap(({ createdAt }) => createdAt ?? []);
      const told = entry.idempotencyKey === undefined ? receipts : [...new Set(receipts)];
      return told.map((time, index) => ({
        id: `${entry.body.description} ${index}`,
        organization,
        automationId: entry.body.automation_id,
        executionId: entry.body.execution_id,
        kind: entry.body.event,
        description: entry.body.description,
        errorId: entry.body.error_id ?? '',
        errorDescription: entry.body.error_description ?? '',
        createdAt: Date.parse(time),
      }));
    });
}

function compareOutcomes(
  source: string,
  expected: Map<string, Execution>,
  stored: Map<string, Execution>,
  find: Find,
): void {
  for (const [key, execution] of expected) {
    const found = stored.get(key);
    const same = found !== undefined && canonical(found) === canonical(execution);
    if (!same)
      find(
        'wrong',
        `${key} by ${source}: expected ${canonical(execution)}, stored ${found ? canonical(found) : 'nothing'}`,
      );
  }
  if (source === 'stored events' && stored.size !== expected.size)
    find('wrong', `${stored.size} executions stored, ${expected.size} expected`);
}

function canonical(execution: Execution): string {
  return JSON.stringify(Object.entries(execution).sort(([a], [b]) => (a < b ? -1 : 1)));
}
