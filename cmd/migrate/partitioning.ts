import type { PartitionOptions } from '../../internal/store/partition-executions.ts';
import type { Logger } from '../../internal/telemetry/logger.ts';

/** Interval of the records about progress, in ms. */
const intervalMs = 10_000;

/** Options that log how `executions` moves into partitions. `asked`: a table of any size moves. */
export function partitioningOf(asked: boolean, logger: Logger): Partial<PartitionOptions> {
  let next = 0;
  return {
    ...(asked && { mostBytes: Number.MAX_SAFE_INTEGER }),
    onProgress: ({ copied, share }) => {
      if (performance.now() < next && share < 1) return;
      next = performance.now() + intervalMs;
      logger.info({ copied, percent: Math.floor(share * 100) }, 'executions move into partitions');
    },
    onPartitioned: () => logger.info('executions has partitions'),
    onLeft: (reason) => logger.warn({ reason, see: '"Partitions" in README.md' }, 'executions has no partitions'),
  };
}
