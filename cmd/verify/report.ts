import type { AuditReport, Beginning } from '../../internal/audit/finding.ts';

/** Most findings that are printed. */
const mostPrinted = 10;

/** A report in sentences: its first findings, or else what was compared. */
export function describe(report: AuditReport, organization: string): string[] {
  const { findings, compared, leaves, checkpoints } = report;
  const rest = findings.length - mostPrinted;
  if (findings.length > 0) {
    return [
      ...findings.slice(0, mostPrinted).map(({ sentence }) => sentence),
      ...(rest > 0 ? [`There are ${rest.toLocaleString('en')} more findings.`] : []),
    ];
  }
  if (compared === 0 && report.beginning === undefined) {
    return [
      `The log extends ${count(checkpoints, 'checkpoint')}, and has ${count(leaves, 'leaf', 'leaves')}. No event was compared.`,
      ...notes({ ...report, absent: 0 }),
    ];
  }
  return [
    `Nothing was lost, added or changed: ${count(compared, 'event')} of ${organization} and ` +
      `${count(checkpoints, 'checkpoint')} match the log, which has ${count(leaves, 'leaf', 'leaves')}.`,
    ...notes(report),
  ];
}

function notes({ waiting, overdue, late, absent, uncovered, erased, erasures, beginning }: AuditReport): string[] {
  return [
    ...(erasures.length > 0 ? [`Events whose data was erased: ${erased.toLocaleString('en')}.`] : []),
    ...erasures.map(
      ({ at, by, reason, events }) => `- ${count(events, 'event')}, by ${by}, ${at.toISOString()}: ${reason}`,
    ),
    ...ifAny(waiting, (events) => `Events that wait for the next checkpoint: ${events}.`),
    ...ifAny(
      overdue,
      (leaves) =>
        `Of these, accepted more than an hour ago: ${leaves}. Nothing proves them yet: check again in a minute.`,
    ),
    ...ifAny(
      late,
      (leaves) =>
        `Leaves that came more than an hour after newer ones: ${leaves}. They prove their events from then on.`,
    ),
    ...ifAny(
      absent,
      (leaves) => `Leaves of events that ${beginning === undefined ? 'the export lacks' : 'expired'}: ${leaves}.`,
    ),
    ...ifAny(uncovered, (events) => `Events that have no leaf yet, so that nothing proves them: ${events}.`),
    ...(beginning === undefined ? [] : [describeBeginning(beginning)]),
  ];
}

function ifAny(number: number, sentence: (number: string) => string): string[] {
  return number > 0 ? [sentence(number.toLocaleString('en'))] : [];
}

/** Says from when on the proof holds: nobody can prove that an event was the same before. */
function describeBeginning({ began, complete }: Beginning): string {
  const older = complete === null ? 'are being sealed' : `were sealed by ${complete.toISOString()}`;
  return `The proof holds since ${began.toISOString()}, when the log began. Older events ${older}.`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
