import { parseArgs } from 'node:util';
import { faultOfText } from '../../internal/event/stored-text.ts';
import { UsageError, type Arguments, type Declaration } from './command.ts';

/** Longest argument, in characters, since some are recorded. */
const longest = 1_000;

/**
 * Reads the arguments of a command by its declaration.
 * @throws {UsageError} that names an argument that is unknown, repeated, empty or missing.
 */
export function parseArguments<D extends Declaration>(
  declaration: D,
  args: string[],
): { values: Arguments<D>; taken: string | undefined } {
  const { values, positionals, tokens } = parsed(declaration, args);
  const given = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, value } = token;
    const option = declaration.options[name];
    const isList = option?.type === 'string' && option.multiple === true;
    if (given.has(name) && !isList) throw new UsageError(`--${name} may be given only once`);
    given.add(name);
    const fault =
      value === undefined ? undefined : value.trim() === '' ? 'must not be empty' : faultOfText(value, longest);
    if (fault !== undefined) throw new UsageError(`--${name} ${fault}`);
  }
  const complete = Object.entries(declaration.options).map(([name, option]) => {
    if (option.type === 'boolean') return [name, values[name] ?? false];
    if (option.multiple === true) return [name, values[name] ?? []];
    if (option.required === true && !given.has(name)) throw new UsageError(`--${name} is required`);
    return [name, values[name]];
  });
  // The declaration is the source of both the types and the values.
  return { values: Object.fromEntries(complete) as Arguments<D>, taken: positionals[0] };
}

function parsed({ options, takes }: Declaration, args: string[]) {
  try {
    // `parseArgs` takes any number of words.
    const result = parseArgs({ args, options, strict: true, allowPositionals: takes !== undefined, tokens: true });
    if (result.positionals.length > 1) throw new Error(`only one ${takes} may be given`);
    return result;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The number of an option that takes a whole number. @throws {UsageError} */
export function wholeNumberOf(option: string, text: string, least = 1): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`--${option} must be a whole number${least === 1 ? ' above 0' : ''}`);
}

/** @throws {UsageError} with the sentence if something is wrong. */
export function refuseIf(isWrong: boolean, sentence: string): void {
  if (isWrong) throw new UsageError(sentence);
}
