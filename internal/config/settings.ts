import { str } from 'envalid';
import { flag, httpsUrl, portNumber, postgresUrl, queueName, ratio, redisUrl, wholeNumber } from './validators.ts';

const mebi = 1024 * 1024;

/** Every setting, with its default. A setting without one is required by the processes that take it. */
export const settings = {
  PORT: portNumber({ default: 8080, desc: 'HTTP behind a proxy that ends TLS; plain HTTP is answered with 301' }),
  HTTPS_PORT: portNumber({ default: undefined, desc: 'TLS in the pod; off unless set' }),
  TLS_CERT_FILE: str({ default: undefined, desc: 'Certificate chain (PEM) of HTTPS_PORT; reloaded when it changes' }),
  TLS_KEY_FILE: str({ default: undefined, desc: 'Private key (PEM) of HTTPS_PORT; reloaded when it changes' }),
  OPS_PORT: portNumber({ default: 9090, desc: '/metrics, /healthz and /readyz; keep it inside' }),
  PUBLIC_URL: httpsUrl({ desc: 'The https:// address callers use; 301s lead there' }),
  TRUST_PROXY: flag({ default: false, desc: 'Believe X-Forwarded-Proto; only behind a proxy that sets it' }),
  REDIS_URL: redisUrl({ desc: 'redis:// or rediss://; a comma list is a Redis Cluster' }),
  DATABASE_URL: postgresUrl({ desc: 'postgres://user:password@host:5432/database' }),
  QUEUE_NAME: queueName({ default: 'events', desc: 'The queue in Redis' }),
  TOKENS_NAMESPACE: str({ default: undefined, desc: "Namespace of the token Secrets; the account's own unless set" }),
  TOKENS_LABEL_SELECTOR: str({ default: 'runledger.dev/organization', desc: 'Selects the token Secrets' }),
  TOKENS_FILE: str({ default: undefined, desc: 'Secret manifests (YAML) to take tokens from, instead of a cluster' }),
  TOKENS_ACCOUNT_DIR: str({
    default: '/var/run/secrets/kubernetes.io/serviceaccount',
    desc: "Where Kubernetes mounts the pod's account",
  }),
  KUBERNETES_SERVICE_HOST: str({ default: undefined, desc: 'The API server; set by Kubernetes' }),
  KUBERNETES_SERVICE_PORT: portNumber({ default: 443, desc: 'The API server; set by Kubernetes' }),
  KUBECONFIG: str({ default: undefined, desc: "A kubeconfig file to use instead of the pod's account" }),
  REQUIRE_DURABLE_REDIS: flag({ default: false, desc: 'Take no event while Redis may lose it' }),
  REDIS_MAX_MEMORY_RATIO: ratio({ default: 0.75, desc: "Share of Redis' maxmemory past which ingest answers 503" }),
  BACKLOG_MAX_JOBS: wholeNumber({
    min: 1,
    max: 1e9,
    default: 1_000_000,
    desc: 'Jobs in the queue past which ingest answers 503',
  }),
  BODY_LIMIT_BYTES: wholeNumber({ min: 1_024, max: 8 * mebi, default: 262_144, desc: 'Largest request body' }),
  EXECUTION_ID_MAX_LENGTH: wholeNumber({ min: 1, max: 500, default: 255, desc: 'Longest execution_id, in characters' }),
  ERROR_ID_MAX_LENGTH: wholeNumber({ min: 1, max: mebi, default: 255, desc: 'Longest error_id, in characters' }),
  DESCRIPTION_MAX_LENGTH: wholeNumber({
    min: 1,
    max: mebi,
    default: 10_000,
    desc: 'Longest description, in characters',
  }),
  ERROR_DESCRIPTION_MAX_LENGTH: wholeNumber({
    min: 1,
    max: mebi,
    default: 100_000,
    desc: 'Longest error_description, in characters',
  }),
  COMMIT_BATCH_EVENTS: wholeNumber({
    min: 1,
    max: 10_000,
    default: 500,
    desc: 'Most events in one commit to Redis (one job)',
  }),
  COMMIT_BATCH_BYTES: wholeNumber({
    min: 1_024,
    max: 64 * mebi,
    default: 262_144,
    desc: 'Most bytes in one commit to Redis',
  }),
  COMMITS_IN_FLIGHT: wholeNumber({ min: 1, max: 64, default: 4, desc: 'Commits to Redis at once' }),
  BUFFER_EVENTS: wholeNumber({
    min: 1,
    max: 1e6,
    default: 20_000,
    desc: 'Events waiting for a commit past which ingest answers 503',
  }),
  BUFFER_BYTES: wholeNumber({
    min: 1_024,
    max: 1024 * mebi,
    default: 64 * mebi,
    desc: 'Bytes waiting for a commit past which ingest answers 503',
  }),
  DATABASE_WAIT_MS: wholeNumber({
    min: 0,
    max: 3_600_000,
    default: 120_000,
    desc: 'How long migrate waits for a Postgres that is coming up',
  }),
  DATABASE_POOL_SIZE: wholeNumber({ min: 2, max: 100, default: 4, desc: 'Connections to Postgres a worker holds' }),
  STORE_BATCH_EVENTS: wholeNumber({
    min: 1,
    max: 20_000,
    default: 2_000,
    desc: 'Most events in one statement, near enough',
  }),
  STORE_BATCH_BYTES: wholeNumber({
    min: 1_024,
    max: 256 * mebi,
    default: 8 * mebi,
    desc: 'Most bytes of descriptions in one statement, near enough',
  }),
  STORE_STATEMENTS_IN_FLIGHT: wholeNumber({ min: 1, max: 16, default: 2, desc: 'Statements at once' }),
  WORKER_CONCURRENCY: wholeNumber({ min: 1, max: 10_000, default: 100, desc: 'Jobs a worker takes at once' }),
  JOB_LOCK_MS: wholeNumber({
    min: 1_000,
    max: 600_000,
    default: 15_000,
    desc: 'How long the jobs of a worker that died wait for another, give or take a third',
  }),
  PARTITIONS_AHEAD_DAYS: wholeNumber({ min: 1, max: 365, default: 7, desc: 'Days whose partitions are made ahead' }),
  RETENTION_DAYS: wholeNumber({ min: 0, max: 36_500, default: 0, desc: 'Days kept; 0 keeps everything' }),
  MAINTENANCE_INTERVAL_MS: wholeNumber({
    min: 1_000,
    max: 86_400_000,
    default: 600_000,
    desc: 'Between two runs of the partition maintenance',
  }),
  OVERDUE_AFTER_HOURS: wholeNumber({
    min: 1,
    max: 87_600,
    default: 24,
    desc: 'Age from which a running execution is counted as overdue',
  }),
  METRICS_ORGANIZATIONS: wholeNumber({
    min: 0,
    max: 10_000,
    default: 200,
    desc: 'Organizations named in metrics, later ones are `other`; 0 names none',
  }),
  LOG_LEVEL: str({
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    desc: 'Least severe level that is logged',
  }),
  DRAIN_DELAY_MS: wholeNumber({
    min: 0,
    max: 60_000,
    default: 3_000,
    desc: 'From readiness false until the process stops accepting, so that load balancers notice',
  }),
  SHUTDOWN_TIMEOUT_MS: wholeNumber({
    min: 1_000,
    max: 600_000,
    default: 25_000,
    desc: 'Longest a graceful stop may take',
  }),
  DATA_DIR: str({ default: '.data', desc: 'Where standalone keeps its data' }),
};

export type SettingName = keyof typeof settings;
