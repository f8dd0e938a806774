#!/usr/bin/env node
import { run } from './run.ts';

/** Longest duration of a stop, in ms; long only while Postgres or S3 does not answer. */
const stopMs = 10_000;

/** The exit codes of a stop, as a shell reports them. */
const signals = { SIGTERM: 143, SIGINT: 130 } as const;

const stop = new AbortController();
let stopped: number | undefined;
// PID 1 of a container has no default signal handlers.
for (const [signal, code] of Object.entries(signals)) {
  process.once(signal, () => {
    stopped = code;
    stop.abort(new Error(`stopped by ${signal}`));
    setTimeout(() => process.exit(code), stopMs).unref();
  });
}
const { stdin, stdout, stderr, env } = process;
const code = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: stop.signal });
// A reader that is gone or stalled would keep the process alive.
if (stopped !== undefined) process.exit(stopped);
process.exitCode = code;
