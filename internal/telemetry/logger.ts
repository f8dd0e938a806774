import { pino, type Logger } from 'pino';
import { RepeatLimit } from './repeat-limit.ts';

export type { Logger };

/** The levels `LOG_LEVEL` takes, most severe first. */
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Pino's numbers: records from info to error are limited. Debugging wants all of them, and a fatal
 * one is the last.
 */
const [limitedFrom, limitedTo] = [30, 50];

/**
 * One JSON line per record on stdout. `msg` is constant, and so the name of what happened;
 * variables are fields. Callers never pass a token, a digest of one, or a request body; `error` is
 * reduced to its type, message and code. A record that repeats (same message, error, status and
 * reason) is limited to 10 a minute; `suppressed` says how many were left out.
 */
export function createLogger(process: string, level: LogLevel, destination?: { write(line: string): void }): Logger {
  const limit = new RepeatLimit();
  const options = {
    level,
    base: { process },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
    hooks: {
      logMethod(this: Logger, args: unknown[], method: (...args: never[]) => void, severity: number) {
        const suppressed = severity >= limitedFrom && severity <= limitedTo ? limit.pass(kindOf(args)) : 0;
        if (suppressed === undefined) return;
        method.apply(this, (suppressed > 0 ? withSuppressed(args, suppressed) : args) as never[]);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/**
 * What a log may say of an error: enough to act on, without the payload that libraries attach to
 * it.
 */
export function describeError(error: unknown): { type: string; message: string; code?: string } {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code };
}

interface Fields {
  error?: unknown;
  status?: unknown;
  reason?: unknown;
}

/**
 * Equal for records that tell the same. Messages of errors are left out: they may hold what differs
 * each time.
 */
function kindOf([first, second]: unknown[]): string {
  if (typeof first === 'string') return first;
  const { error, status, reason } = (first ?? {}) as Fields;
  const { type, code } = error === undefined ? { type: '' } : describeError(error);
  return JSON.stringify([second, type, code, status, reason]);
}

function withSuppressed([first, ...rest]: unknown[], suppressed: number): unknown[] {
  return typeof first === 'string' ? [{ suppressed }, first] : [{ ...(first as object), suppressed }, ...rest];
}
