/**
 * A part of a process that runs. `start` resolves when the part does its work; `stop` resolves when
 * nothing of it is left (no timer, connection or child process), tolerates never having been
 * started and may be called twice.
 */
export interface Component {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}
