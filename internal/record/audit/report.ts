import type { AuditReport } from './finding.ts';
import { count, type Outcome } from './exit-code.ts';

/** A report in sentences, which explain each number. */
export function describe(report: AuditReport, organization: string): Outcome {
  const { findings, problems, compared, leaves, checkpoints, since, uncovered, firstUncovered, overdue } = report;
  const isCompared = compared > 0 || since !== undefined;
  return {
    findings: findings.filter((one) => one.isExplained !== true).map(({ sentence }) => sentence),
    problems: [
      ...problems,
      ...findings.filter((one) => one.isExplained === true).map(({ sentence }) => sentence),
      ...ifAny(uncovered, (events) =>
        firstUncovered === undefined
          ? `Events that have no leaf yet, so that nothing proves them: ${events}.`
          : `Events from before the first leaf of the log that have none, so that nothing proves them: ${events}. ` +
            `The first is ${firstUncovered}. An operator gives them leaves with \`seal\`.`,
      ),
      ...ifAny(
        overdue,
        (events) =>
          `Events that were accepted more than an hour ago, and that no checkpoint covers: ${events}. ` +
          'Nothing proves them yet: check again in a minute.',
      ),
    ],
    checked: isCompared
      ? `${count(compared, 'event')} of ${organization} and ` +
        `${count(checkpoints, 'checkpoint')} match the log, which has ${count(leaves, 'leaf', 'leaves')}.`
      : `the log of ${organization} has ${count(leaves, 'leaf', 'leaves')}, ` +
        `and extends ${count(checkpoints, 'checkpoint')}. No event was compared.`,
    notes: notes(isCompared ? report : { ...report, absent: 0 }),
  };
}

function notes({ waiting, late, absent, erased, erasures, acts, since }: AuditReport): string[] {
  return [
    ...(erasures.length > 0 ? [`Events whose data was erased: ${erased.toLocaleString('en')}.`] : []),
    ...erasures.map(
      ({ at, by, reason, events }) => `- ${count(events, 'event')}, by ${by}, ${at.toISOString()}: ${reason}`,
    ),
    ...ifAny(waiting, (events) => `Events that wait for the next checkpoint: ${events}.`),
    ...ifAny(
      late,
      (leaves) =>
        `Leaves that came more than an hour after newer ones: ${leaves}. They prove their events from then on.`,
    ),
    ...ifAny(
      absent,
      (leaves) => `Leaves of events that ${since === undefined ? 'the export lacks' : 'expired'}: ${leaves}.`,
    ),
    ...acts.map((act) => `In the log: ${act}.`),
    ...(since === undefined ? [] : [`The proof holds since ${since.toISOString()}: no leaf is of an older event.`]),
  ];
}

function ifAny(number: number, sentence: (number: string) => string): string[] {
  return number > 0 ? [sentence(number.toLocaleString('en'))] : [];
}
