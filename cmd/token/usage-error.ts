import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Scope } from '../../internal/tokens/token-entry.ts';

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

/**
 * The scope that the options choose.
 * @throws {UsageError} for two of them.
 */
export function scopeOf({ read, ping }: { read: boolean; ping: boolean }): Scope {
  if (read && ping) throw new UsageError('--read and --ping exclude each other: a token has one scope');
  if (ping) return 'ping';
  return read ? 'read' : 'write';
}
