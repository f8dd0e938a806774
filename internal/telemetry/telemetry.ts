import { createLogger, type Logger, type LogLevel } from './logger.ts';
import { createRegistry, type Registry } from './metrics.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';
import { createProbes, type Probes } from '../ops/probes.ts';
import type { Tracing } from './tracing.ts';

/** What a process tells of itself: records, figures, and whether it is well. */
export interface Telemetry {
  logger: Logger;
  registry: Registry;
  probes: Probes;
  organization: OrganizationLabel;
  /** Absent where traces are off. */
  tracing?: Tracing | undefined;
}

/**
 * Telemetry of a process, named in every record and figure. At most so many organizations are named
 * in figures.
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
