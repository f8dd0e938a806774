import { createLogger, type Logger, type LogLevel } from './logger.ts';
import { createRegistry, type Registry } from './metrics.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';
import { createProbes, type Probes } from '../ops/probes.ts';
import type { Tracing } from './tracing.ts';

/** The logger, metrics and probes of a process. */
export interface Telemetry {
  logger: Logger;
  registry: Registry;
  probes: Probes;
  organization: OrganizationLabel;
  /** Undefined when traces are off. */
  tracing?: Tracing | undefined;
}

/**
 * Creates the telemetry of a process, whose name is in every record and metric. Metrics name at
 * most this many organizations.
 */
export function createTelemetry(
  process: string,
  level: LogLevel,
  organizations: number = defaultOrganizations,
): Telemetry {
  return {
    logger: createLogger(process, level),
    registry: createRegistry(process),
    probes: createProbes(),
    organization: createOrganizationLabel(organizations),
  };
}
