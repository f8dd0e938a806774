import { ratio, wholeNumber } from './validators.ts';

/** The settings of the overflow lane (ARCHITECTURE.md, "The overflow lane"). */
export const overflowSettings = {
  OVERFLOW_RATE: wholeNumber({
    min: 0,
    max: 1e9,
    default: 0,
    desc: 'Events a second of one organization and ingest, beyond which its events go to the overflow lane; 0 for never',
  }),
  OVERFLOW_SHARE: ratio({
    default: 0.5,
    desc: 'Share of REDIS_MAX_MEMORY_RATIO and of BACKLOG_MAX_JOBS from which the overflow lane is full',
  }),
  OVERFLOW_CONCURRENCY: wholeNumber({
    min: 1,
    max: 1_000,
    default: 2,
    desc: 'Most jobs of the overflow lane that a worker stores at once',
  }),
};
