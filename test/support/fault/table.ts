import type { Totals } from './totals.ts';

/** The result of a soak, in Markdown. */
export function tableOf(totals: Totals, run: { minutes: number; rate: number; seed: number }): string {
  const faults = [...totals.faults].sort(([a], [b]) => (a < b ? -1 : 1));
  const injected = faults.reduce((sum, [, count]) => sum + count, 0);
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  return [
    `| ${run.minutes} minutes at ${run.rate} events/s, seed ${run.seed} | |`,
    '| --- | ---: |',
    `| faults injected | ${injected} in ${totals.episodes} episodes |`,
    ...faults.map(([kind, count]) => `| – ${kind} | ${count} |`),
    `| requests | ${totals.requests} |`,
    `| 201 | ${totals.receipts} |`,
    `| 503 | ${totals.unavailable} |`,
    `| no answer, 502, 504 | ${totals.unanswered} |`,
    `| events stored | ${totals.rows} |`,
    `| – of them without a receipt (the answer was ambiguous) | ${totals.withoutReceipt} |`,
    `| executions | ${totals.executions} |`,
    `| **lost** | **${totals.lost}** |`,
    `| **doubled** | **${totals.doubled}** |`,
    `| **wrong outcomes** | **${totals.wrong}** |`,
    `| rows or dead letters that nobody sent | ${totals.unexpected} |`,
    `| answers that may not be given | ${totals.invalidAnswers} |`,
    `| processes that ended by themselves | ${totals.crashes} |`,
    `| processes that ran and did nothing | ${totals.stuck} |`,
    `| worst time to recover from one fault | ${seconds(totals.worstRecoveryMs)} (${totals.worstRecoveryAfter}) |`,
    `| worst time to recover from two at once | ${seconds(totals.worstRecoveryOfPairsMs)} |`,
    `| worst time to drain after a round | ${seconds(totals.worstDrainMs)} |`,
    `| slowest 503 | ${seconds(totals.slowest503Ms)} |`,
  ].join('\n');
}
