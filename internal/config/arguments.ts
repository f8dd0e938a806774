import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The arguments of a command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The arguments of a command.
 * @throws {UsageError} that names an argument that the command does not have.
 */
export function parseArguments<T extends ParseArgsConfig>(config: T) {
  try {
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
