import type { Logger } from '../../internal/telemetry/logger.ts';

export interface LogRecord {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

/** A logger that keeps what it is told, for tests of what an operator gets to see. */
export function recordingLogger(): { logger: Logger; records: LogRecord[] } {
  const records: LogRecord[] = [];
  const at =
    (level: string) =>
    (...args: [string] | [Record<string, unknown>, string]): void => {
      const [fields, message] = args.length === 1 ? [{}, args[0]] : args;
      records.push({ level, fields, message });
    };
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'];
  return { logger: Object.fromEntries(levels.map((level) => [level, at(level)])) as unknown as Logger, records };
}
