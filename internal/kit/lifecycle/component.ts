/**
 * A running part of a process. `start` resolves when the part works. `stop` resolves when it has no
 * timer, connection or child process left. `stop` is safe before `start`, and idempotent.
 */
export interface Component {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}
