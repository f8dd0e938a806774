import { pino, type Logger } from 'pino';

export type { Logger };

/** The levels `LOG_LEVEL` takes, most severe first. */
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * One JSON line per record on stdout. `msg` is constant; variables are fields. Callers never pass a token,
 * a digest of one, or a request body; `error` is reduced to its type, message and code.
 */
export function createLogger(process: string, level: LogLevel): Logger {
  return pino({
    level,
    base: { process },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError },
  });
}

/** What a log may say of an error: enough to act on, without the payload that libraries attach to it. */
export function describeError(error: unknown): { type: string; message: string; code?: string } {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: error.name, message: error.message, ...code };
}
