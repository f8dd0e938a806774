/**
 * A running part of a process. `start` resolves when the part works. `stop` resolves when no timer,
 * connection or child process of it is left. `stop` is safe before `start` and safe twice.
 */
export interface Component {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}
