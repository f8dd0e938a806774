import { constants } from 'node:os';

/** How a command ended: with an exit code, or by a signal. */
export type Ended = { readonly code: number } | { readonly signal: NodeJS.Signals };

/** Signals whose default action writes a core dump. */
const dumping: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGSYS',
  'SIGXCPU',
  'SIGXFSZ',
]);

/** Longest that a signal to this process may take to end it, in ms. */
const signalGrace = 2_000;

/**
 * Ends this process as the command ended: with its exit code, or by the same signal. `busy` says
 * that a system call is still under way in a thread: a normal exit would wait for it.
 */
export function endLike(ended: Ended, { busy = false } = {}): void {
  if ('code' in ended) {
    if (busy) become(`exit ${ended.code}`);
    process.exit(ended.code);
  }
  const { signal } = ended;
  if (signal !== 'SIGKILL') {
    // Node ignores some signals. To listen, and then no longer, restores the default action.
    process.on(signal, () => undefined);
    process.removeAllListeners(signal);
  }
  // The command may have left a core dump. This process must not leave a second one.
  if (dumping.has(signal)) become(`ulimit -c 0; kill -${constants.signals[signal]} $$`);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), signalGrace);
}

/** Replaces this process by a shell that runs the script; returns where that is not possible. */
function become(script: string): void {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', script]);
  } catch {
    // The caller ends the process in the usual way.
  }
}
