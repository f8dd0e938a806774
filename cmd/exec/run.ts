import { endLike } from '../../internal/job/ended.ts';
import { parseInherited } from '../../internal/job/inherited.ts';
import { exec } from './exec.ts';
import { say } from './say.ts';
import { UsageError } from './usage.ts';

/** Exit codes of wrong arguments: `exec` has that of env(1), since its command may use 2. */
const wrongUsage = { exec: 125, other: 2 };

/** Runs a command. It sets the exit code, or ends this process itself. Never rejects. */
export async function run(args: readonly string[]): Promise<void> {
  const inherited = parseInherited(args[0] ?? '');
  const [name = '', ...rest] = inherited === undefined ? args : args.slice(1);
  try {
    if (wantsHelp(name, rest)) await printHelp(name === 'help' ? rest[0] : name);
    else if (name === 'exec') await exec(rest, inherited);
    else await other(name, rest);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    say(isUsage ? `${message}; see: runledger ${commands.has(name) ? `${name} --help` : 'help'}` : message);
    if (name === 'exec') process.exitCode = wrongUsage.exec;
    else process.exitCode = isUsage ? wrongUsage.other : 1;
  }
}

/** What follows `--` is the command of `exec`, with options of its own. */
function wantsHelp(name: string, args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = new Set([name, ...(end === -1 ? args : args.slice(0, end))]);
  return name === 'help' || own.has('--help') || own.has('-h');
}

async function printHelp(name: string | undefined): Promise<void> {
  const { helpOf } = await import('./help.ts');
  process.stdout.write(helpOf(name));
}

const commands: ReadonlySet<string> = new Set(['exec', 'flush', 'executions', 'events', 'tail']);

async function other(name: string, args: readonly string[]): Promise<void> {
  endWithReader();
  if (name === 'flush') return (await import('./flush.ts')).flush(args);
  if (name === 'executions') return (await import('./list.ts')).listExecutions(args);
  if (name === 'events') return (await import('./list.ts')).listEvents(args);
  if (name === 'tail') return (await import('./tail.ts')).tail(args);
  throw new UsageError(name === '' ? 'the command is missing' : `unknown command "${name}"`);
}

/** Ends this process as the shell's programs end when nobody reads their output. */
function endWithReader(): void {
  process.stdout.on('error', () => endLike({ signal: 'SIGPIPE' }));
}
