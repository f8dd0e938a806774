import { createLogger, type Logger } from '../../internal/kit/telemetry/logger.ts';

export interface LogRecord {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

/** A logger that keeps its lines, as an operator reads them and as records. */
export function recordingLogger(): { logger: Logger; lines: string[]; records: LogRecord[] } {
  const lines: string[] = [];
  const records: LogRecord[] = [];
  const write = (line: string): void => {
    const { level, msg, process: _, time: __, ...fields } = JSON.parse(line) as Record<string, unknown>;
    lines.push(line);
    records.push({ level: String(level), fields, message: String(msg) });
  };
  return { logger: createLogger('test', 'trace', { write }), lines, records };
}
