/** The state of an execution (ARCHITECTURE.md, "Outcomes"). */
export type ExecutionState = 'running' | 'succeeded' | 'failed';
