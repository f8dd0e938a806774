/** The state of an execution (docs/design/outcomes.md). */
export type ExecutionState = 'running' | 'succeeded' | 'failed';

/** The state that readers see. A run that is lost has sent no event for long, and no END. */
export type ShownState = ExecutionState | 'lost';
