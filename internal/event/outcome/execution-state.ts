/** The state of an execution (docs/design/outcomes.md). */
export type ExecutionState = 'running' | 'succeeded' | 'failed';

/** The state that readers see. A lost run has sent no event for a long time, and no END. */
export type ShownState = ExecutionState | 'lost';
