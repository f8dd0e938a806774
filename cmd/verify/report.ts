import type { AuditReport, Beginning } from '../../internal/audit/finding.ts';

/** Most findings that are printed. */
const mostPrinted = 10;

/** What was found, in sentences. */
export function describe(report: AuditReport, organization: string): string[] {
  const { findings, compared, leaves, checkpoints } = report;
  const rest = findings.length - mostPrinted;
  if (findings.length > 0) {
    return [
      ...findings.slice(0, mostPrinted).map(({ sentence }) => sentence),
      ...(rest > 0 ? [`There are ${rest} more findings.`] : []),
    ];
  }
  return [
    `Nothing was lost, added or changed: ${count(compared, 'event')} of ${organization} and ` +
      `${count(checkpoints, 'checkpoint')} match the log, which has ${count(leaves, 'leaf', 'leaves')}.`,
    ...notes(report),
  ];
}

function notes({ waiting, overdue, absent, uncovered, erased, erasures, beginning }: AuditReport): string[] {
  return [
    ...(erasures.length > 0 ? [`Events whose data was erased: ${erased.toLocaleString('en')}.`] : []),
    ...erasures.map(
      ({ at, by, reason, events }) => `- ${count(events, 'event')}, by ${by}, ${at.toISOString()}: ${reason}`,
    ),
    ...(waiting > 0 ? [`Events that wait for the next checkpoint: ${waiting.toLocaleString('en')}.`] : []),
    ...(overdue > 0
      ? [`Of these, ${overdue.toLocaleString('en')} have waited for more than an hour: nothing proves them.`]
      : []),
    ...(absent > 0 ? [`Leaves of events that expired or were not given: ${absent.toLocaleString('en')}.`] : []),
    ...(uncovered > 0
      ? [`Events that have no leaf yet, so that nothing proves them: ${uncovered.toLocaleString('en')}.`]
      : []),
    ...(beginning === undefined ? [] : [describeBeginning(beginning)]),
  ];
}

/** Says from when on the proof holds: nobody can prove that an event was the same before. */
function describeBeginning({ began, complete }: Beginning): string {
  const older = complete === null ? 'are being sealed' : `were sealed by ${complete.toISOString()}`;
  return `The proof holds since ${began.toISOString()}, when the log began. Older events ${older}.`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
