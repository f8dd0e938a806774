import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The arguments of the command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The options of a command.
 * @throws {UsageError} that names any other argument.
 */
export function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
