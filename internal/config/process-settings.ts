import { ConfigError, type Config } from './read.ts';

/** The settings of every long-running process. */
export const processSettings = [
  'OPS_PORT',
  'LISTEN_ADDRESS',
  'LOG_LEVEL',
  'METRICS_ORGANIZATIONS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_SDK_DISABLED',
  'SHUTDOWN_TIMEOUT_MS',
] as const;

/** @throws {ConfigError} when the drain delay leaves no time for the stop. */
export function requireTimeToStop(config: Config<'DRAIN_DELAY_MS' | 'SHUTDOWN_TIMEOUT_MS'>): void {
  if (config.SHUTDOWN_TIMEOUT_MS > config.DRAIN_DELAY_MS) return;
  throw new ConfigError('SHUTDOWN_TIMEOUT_MS must be longer than DRAIN_DELAY_MS, which is a part of it');
}
