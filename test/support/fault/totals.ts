/** What a campaign came to. */
export interface Totals {
  faults: Map<string, number>;
  episodes: number;
  requests: number;
  receipts: number;
  unavailable: number;
  /** Other failures that a caller sees: no answer in time, or the proxy's 502 and 504. */
  unanswered: number;
  rows: number;
  executions: number;
  withoutReceipt: number;
  lost: number;
  doubled: number;
  wrong: number;
  unexpected: number;
  invalidAnswers: number;
  /** Processes that ended by themselves. */
  crashes: number;
  /** Processes that went on running and did nothing. */
  stuck: number;
  /** From the end of a fault to flawless answers, in ms: after a fault alone, and after two. */
  worstRecoveryMs: number;
  worstRecoveryOfPairsMs: number;
  /** What the worst one came after. */
  worstRecoveryAfter: string;
  /** From the end of a round's load to an empty queue, in ms. */
  worstDrainMs: number;
  /** Slowest 503 that ingest itself gave, in ms. */
  slowest503Ms: number;
  findings: string[];
}

/** Before the first round. */
export function noTotals(): Totals {
  return {
    faults: new Map(),
    episodes: 0,
    requests: 0,
    receipts: 0,
    unavailable: 0,
    unanswered: 0,
    rows: 0,
    executions: 0,
    withoutReceipt: 0,
    lost: 0,
    doubled: 0,
    wrong: 0,
    unexpected: 0,
    invalidAnswers: 0,
    crashes: 0,
    stuck: 0,
    worstRecoveryMs: 0,
    worstRecoveryOfPairsMs: 0,
    worstRecoveryAfter: '',
    worstDrainMs: 0,
    slowest503Ms: 0,
    findings: [],
  };
}
