import { writeSync } from 'node:fs';
import { parseInherited } from '../../internal/job/inherited.ts';
import { exec } from './exec.ts';
import { usage, UsageError } from './usage.ts';

/** Exit codes of wrong arguments: `exec` has that of env(1), since its command may use 2. */
const wrongUsage = { exec: 125, other: 2 };

/** Runs a command. It sets the exit code, or ends this process itself. Never rejects. */
export async function run(args: readonly string[]): Promise<void> {
  const inherited = parseInherited(args[0] ?? '');
  const [name = '', ...rest] = inherited === undefined ? args : args.slice(1);
  try {
    if (name === 'exec') await exec(rest, inherited);
    else await other(name, rest);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    writeSync(2, isUsage ? `runledger: ${message}\nTry: runledger help\n` : `runledger: ${message}\n`);
    if (name === 'exec') process.exitCode = wrongUsage.exec;
    else process.exitCode = isUsage ? wrongUsage.other : 1;
  }
}

async function other(name: string, args: readonly string[]): Promise<void> {
  if (name === 'help' || args.includes('--help')) {
    writeSync(1, usage);
    return;
  }
  if (name === 'flush') return (await import('./flush.ts')).flush(args);
  if (name === 'executions') return (await import('./list.ts')).listExecutions(args);
  if (name === 'events') return (await import('./list.ts')).listEvents(args);
  if (name === 'tail') return (await import('./tail.ts')).tail(args);
  throw new UsageError(name === '' ? 'no command given' : `unknown command "${name}"`);
}
