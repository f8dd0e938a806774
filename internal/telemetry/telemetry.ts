import { createLogger, type Logger, type LogLevel } from './logger.ts';
import { createRegistry, type Registry } from './metrics.ts';
import { createProbes, type Probes } from './probes.ts';

/** What a process tells of itself: records, figures, and whether it is well. */
export interface Telemetry {
  logger: Logger;
  registry: Registry;
  probes: Probes;
}

/** Telemetry of a process, named in every record and figure. */
export function createTelemetry(process: string, level: LogLevel): Telemetry {
  return { logger: createLogger(process, level), registry: createRegistry(process), probes: createProbes() };
}
