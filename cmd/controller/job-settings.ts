import type { Config } from '../../internal/config/read.ts';
import type { redisSettings } from '../ingest/redis.ts';

/** The settings of captured Jobs, beside those of the controller. */
export const jobSettings = [
  'CAPTURE_JOBS',
  'REDIS_ACKS',
  'REQUIRE_DURABLE_REDIS',
  'REDIS_MAX_MEMORY_RATIO',
  'BACKLOG_MAX_JOBS',
  'IDEMPOTENCY_HOURS',
] as const;

/** What the capture of Jobs reads. */
export type JobConfig = Config<
  | (typeof jobSettings)[number]
  | (typeof redisSettings)[number]
  | 'QUEUE_NAME'
  | 'AUTOMATIONS_NAMESPACES'
  | 'TOKENS_ACCOUNT_DIR'
  | 'KUBERNETES_SERVICE_HOST'
  | 'KUBERNETES_SERVICE_PORT'
  | 'KUBECONFIG'
>;
