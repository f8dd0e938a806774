import { run } from './run.ts';

// PID 1 of a container has no default handler. The next run continues.
process.once('SIGTERM', () => process.exit(143));
process.exitCode = await run(process.argv.slice(2), process);
