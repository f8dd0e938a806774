import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The command was called in a way that it cannot make sense of. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The options of a command; everything else among the arguments is a UsageError that names it. */
export function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
