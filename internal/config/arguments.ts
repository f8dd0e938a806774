import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The arguments of a command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The arguments of a command.
 * @throws {UsageError} that names an argument that the command does not have, or has only once.
 */
export function parseArguments<T extends ParseArgsConfig>(config: T) {
  try {
    refuseRepeated(config);
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/**
 * The options of a command that takes nothing else.
 * @throws {UsageError} that names any other argument.
 */
export function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: T) {
  return parseArguments({ args, options, strict: true, allowPositionals: false }).values;
}

/** `parseArgs` itself would take the last value, and ignore the others. */
function refuseRepeated(config: ParseArgsConfig): void {
  const given = new Set<string>();
  for (const token of parseArgs({ ...config, tokens: true }).tokens) {
    if (token.kind !== 'option' || config.options?.[token.name]?.multiple === true) continue;
    if (given.has(token.name)) throw new Error(`--${token.name} may be given only once`);
    given.add(token.name);
  }
}
