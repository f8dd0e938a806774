/** The settings of every process that stays up. */
export const processSettings = [
  'OPS_PORT',
  'LOG_LEVEL',
  'METRICS_ORGANIZATIONS',
  'DRAIN_DELAY_MS',
  'SHUTDOWN_TIMEOUT_MS',
] as const;
