import { UsageError } from '../../internal/config/arguments.ts';
import type { Scope } from '../../internal/cluster/tokens/token-entry.ts';

/**
 * The scope that the options choose.
 * @throws {UsageError} for two of them.
 */
export function scopeOf({ read, ping }: { read: boolean; ping: boolean }): Scope {
  if (read && ping) throw new UsageError('--read and --ping exclude each other: a token has one scope');
  if (ping) return 'ping';
  return read ? 'read' : 'write';
}
