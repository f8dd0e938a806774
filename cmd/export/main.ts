import { run } from './run.ts';

/** Longest duration of a stop, in ms. It takes long only while Postgres does not answer. */
const stopMs = 10_000;

const stop = new AbortController();
// PID 1 of a container has no default handler.
process.once('SIGTERM', () => {
  stop.abort(new Error('stopped by SIGTERM; the next run continues'));
  setTimeout(() => process.exit(143), stopMs).unref();
});
const { stdout, stderr, env } = process;
const code = await run(process.argv.slice(2), { stdout, stderr, env, signal: stop.signal });
// A reader that is gone, or takes nothing, would keep the process alive.
if (stop.signal.aborted) process.exit(143);
process.exitCode = code;
