/** The state of an execution (README, "Outcomes"). */
export type ExecutionState = 'running' | 'succeeded' | 'failed';
