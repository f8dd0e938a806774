import { pino, type Logger } from 'pino';
import { plainText, plainTexts } from './plain-text.ts';
import { RepeatLimit } from './repeat-limit.ts';

export type { Logger };

/** The levels of `LOG_LEVEL`, most severe first. */
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Pino's numbers of the limited levels, info to error. Debug and fatal records always pass. */
const [limitedFrom, limitedTo] = [30, 50];

/**
 * Writes one JSON line per record to stdout. `msg` is constant; variables are fields. Callers never
 * pass a token, its digest or a body. Invisible characters in texts are replaced. `error` becomes
 * type, message and code. Equal records (message, error, status, reason) are limited to 10 a
 * minute; `suppressed` counts the rest. Records with `audit: true` always pass, since each is a
 * fact for auditors.
 */
export function createLogger(process: string, level: LogLevel, destination?: { write(line: string): void }): Logger {
  const limit = new RepeatLimit();
  const options = {
    level,
    base: { process },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => plainTexts(fields) as Record<string, unknown>,
    },
    serializers: { error: describeError },
    hooks: {
      logMethod(this: Logger, args: unknown[], method: (...args: never[]) => void, severity: number) {
        const limited = severity >= limitedFrom && severity <= limitedTo && !isAudit(args);
        const suppressed = limited ? limit.pass(kindOf(args)) : 0;
        if (suppressed === undefined) return;
        method.apply(this, (suppressed > 0 ? withSuppressed(args, suppressed) : args) as never[]);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** The parts of an error that a log may hold, without the payloads that libraries attach. */
export function describeError(error: unknown): { type: string; message: string; code?: string } {
  if (!(error instanceof Error)) return { type: typeof error, message: plainText(String(error)) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: error.name, message: plainText(error.message), ...code };
}

interface Fields {
  error?: unknown;
  status?: unknown;
  reason?: unknown;
  audit?: unknown;
}

function isAudit([first]: unknown[]): boolean {
  return typeof first === 'object' && first !== null && (first as Fields).audit === true;
}

/** Equal for records of the same kind. Leaves out error messages, which differ each time. */
function kindOf([first, second]: unknown[]): string {
  if (typeof first === 'string') return first;
  const { error, status, reason } = (first ?? {}) as Fields;
  const { type, code } = error === undefined ? { type: '' } : describeError(error);
  return JSON.stringify([second, type, code, status, reason]);
}

function withSuppressed([first, ...rest]: unknown[], suppressed: number): unknown[] {
  return typeof first === 'string' ? [{ suppressed }, first] : [{ ...(first as object), suppressed }, ...rest];
}
