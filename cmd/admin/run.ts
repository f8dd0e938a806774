import { ConfigError, readConfig } from '../../internal/config/read.ts';
import { ProgressBar } from '../../internal/kit/terminal/progress-bar.ts';
import { UsageError, type Context, type Declaration, type Surroundings } from './command.ts';
import { commands, type Command } from './commands.ts';
import { helpOf, helpOfAll, program, usageOf } from './help.ts';
import { withCause } from './messages.ts';
import { parseArguments } from './parse.ts';

/** The exit codes, which mean the same in every command. */
export type ExitCode = 0 | 1 | 2;

/**
 * Runs a command line. Resolves with 0 if it is done or nothing is wrong, 1 if it failed or
 * something is wrong, and 2 for wrong arguments or settings or a check that could not be made.
 */
export async function run(args: string[], surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr } = surroundings;
  const isHelp = args.includes('--help') || args[0] === 'help';
  const words = args[0] === 'help' ? args.slice(1) : args;
  const name = nameOf(words);
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || command === undefined) {
    const group = Object.entries(commands).filter(([one]) => one.startsWith(`${words[0]} `));
    const shown = group.length > 0 ? group : Object.entries(commands);
    const help = helpOfAll(shown.map(([one, { declaration }]) => [one, declaration.summary]));
    const rest = words.filter((word) => word !== '--help');
    if (isHelp && (rest.length === 0 || group.length > 0)) {
      stdout.write(help);
      return 0;
    }
    const fault = rest.length === 0 ? 'no command is given' : `unknown command "${rest.join(' ')}"`;
    stderr.write(`${program}: ${fault}\n\n${help}`);
    return 2;
  }
  if (isHelp) {
    stdout.write(helpOf(name, command.declaration));
    return 0;
  }
  const bar = new ProgressBar(stderr);
  try {
    return await runOne(command, words.slice(name.split(' ').length), surroundings, bar);
  } catch (error) {
    bar.clear();
    const { declaration } = command;
    const errors = error instanceof AggregateError ? error.errors : [error];
    for (const one of errors) stderr.write(`${name}: ${withCause(one)}\n`);
    if (error instanceof UsageError) {
      stderr.write(`\n${usageOf(name, declaration)}\n${program} ${name} --help says more.\n`);
    }
    return error instanceof UsageError || error instanceof ConfigError || declaration.checks === true ? 2 : 1;
  }
}

/** The longest command name that the words begin with. */
function nameOf(words: readonly string[]): string | undefined {
  const names = [words.slice(0, 2).join(' '), words[0] ?? ''];
  return names.find((name) => Object.hasOwn(commands, name));
}

async function runOne(
  { declaration, load }: Command,
  args: string[],
  surroundings: Surroundings,
  bar: ProgressBar,
): Promise<ExitCode> {
  const { values, taken } = parseArguments(declaration, args);
  const { env, stdout, stderr, signal } = surroundings;
  const context: Context = {
    ...surroundings,
    taken,
    settings: () => readConfig(declaration.settings, env),
    print: (text) => {
      bar.clear();
      stdout.write(text);
    },
    say: (sentence) => {
      bar.clear();
      stderr.write(`${sentence}\n`);
    },
    show: (progress) => bar.show(progress),
  };
  const running = load().then((start) => start(values, context));
  const code = await (declaration.stops === true ? running : Promise.race([running, stopOf(signal, declaration)]));
  bar.clear();
  return code ?? 0;
}

/** Rejects once the command is to stop. */
function stopOf(signal: AbortSignal, { checks }: Declaration): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => {
      const { message } = signal.reason as Error;
      reject(new Error(checks === true ? message : `${message}; the same command continues`));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
