import type { Config } from '../../internal/config/read.ts';
import { backledgerSettings } from '../../internal/wiring/limits.ts';
import { keySettings, type redisSettings } from '../../internal/wiring/redis.ts';
import type { declarationSettings } from './declaration-settings.ts';

/** The settings of captured Jobs, besides those of the controller. */
export const jobSettings = ['CAPTURE_JOBS', ...backledgerSettings, ...keySettings, 'LEDGER_DIGESTS'] as const;

/** What the capture of Jobs reads. */
export type JobConfig = Config<
  (typeof jobSettings)[number] | (typeof redisSettings)[number] | (typeof declarationSettings)[number] | 'QUEUE_NAME'
>;
