import {
  clock,
  answers,
  growing,
  late,
  late3,
  logins,
  notifications,
  ofConsole,
  ofController,
  ofIngest,
  queries,
  ofWorker,
  progressAt,
  requests,
  steady,
  transitions,
  waiting,
} from './healthy-world.ts';
import type { AlertCase, Differences } from './alert-case.ts';
import { workerAlertCases } from './worker-alert-cases.ts';

const refused = 'runledger_token_secrets_refused{namespace="rl",pod="i",reason="shared"}';
const plain = 'runledger_plain_http_requests_total{namespace="rl",pod="i",token="true"}';
const keysRefused = 'runledger_rejections_total{namespace="rl",pod="i",reason="idempotency-keys"}';
const ofShard = (shard: number): string => `runledger_shard_admitting{namespace="rl",pod="i",shard="${shard}"}`;
const waitingIn = (shard: number): string => waiting.replace('}', `,shard="${shard}"}`);
const oldestJob = ofIngest('queue_oldest_job_age_seconds');
const dead = 'runledger_events_dead_lettered_total{namespace="rl",pod="w",reason="22P02"}';
const waitingFor = (db: string, gauge = 'database_waiting_jobs') => ofWorker(gauge).replace('}', `,database="${db}"}`);
const archive = 'archive_waiting_partitions';
const archiveReads = (outcome: string): string =>
  `runledger_archive_reads_total{namespace="rl",pod="c",outcome="${outcome}"}`;
const lostEntries = 'runledger_access_log_entries_total{namespace="rl",pod="c",result="lost"}';
const limited = 'runledger_organization_limited_requests_total{namespace="rl",pod="i",organization="acme"}';
const overflowed = 'runledger_overflowed_events_total{namespace="rl",pod="i",organization="acme"}';
const oldestOverflow = ofIngest('overflow_oldest_job_age_seconds');
const declarations = 'runledger_declarations_refused{namespace="rl",pod="k",reason="InvalidSpec"}';
const other = 'runledger_watermark_lag_seconds{namespace="rl",pod="k2"}';
const witnessFailures = 'runledger_log_witness_failures_total{namespace="rl",pod="w",witness="witness.example"}';
const cosignatures = witnessFailures.replace('witness_failures', 'cosignatures');
const logFailures = ofWorker('log_failures_total');
const stored = ofWorker('events_stored_total');
const sealed = ofWorker('log_sealed_events_total');

/** Workers store nothing and report no progress. */
const noProgress: Differences = { [progressAt]: steady(1), [ofWorker('events_stored_total')]: steady(0) };

/** Worlds in which the only installation, or one of two, loses a series after half an hour. */
const gone = (series: string): Record<string, Differences> => ({
  'the only installation': { [series]: '1x30 _x119' },
  'one of two installations': { [series]: '1x30 _x119', [series.replace('"rl"', '"other"')]: steady(0) },
});
/** Another pod shows the series from then on. */
const replaced = (series: string): Differences => ({
  [series]: '0x30 _x119',
  [series.replace('pod="', 'pod="next-')]: '_x30 0x119',
});

export const alertCases: Record<string, AlertCase> = {
  ...workerAlertCases,
  RunledgerAvailabilityBudgetBurning: {
    fires: { [requests(503)]: growing(6) },
    with: ['RunledgerAvailabilityBudgetEroding'],
    nearly: { [requests(503)]: growing(1) },
    nearlyWith: ['RunledgerAvailabilityBudgetEroding'],
  },
  RunledgerAvailabilityBudgetEroding: {
    fires: { [requests(503)]: growing(1) },
    nearly: { [requests(503)]: growing(0.25) },
  },
  RunledgerIngestMissing: {
    fires: { [ofIngest('redis_reachable')]: undefined },
    nearly: { [ofIngest('redis_reachable')]: steady(0) },
    alsoFires: gone(ofIngest('redis_reachable')),
    alsoNearly: { 'another pod took over': replaced(ofIngest('redis_reachable')) },
  },
  RunledgerFreshnessBudgetBurning: {
    fires: { [late]: growing(480) },
    with: ['RunledgerFreshnessBudgetEroding'],
    nearly: { [late]: growing(580) },
    nearlyWith: ['RunledgerFreshnessBudgetEroding'],
    alsoFires: { 'in Prometheus 3': { [late]: undefined, [late3]: growing(480) } },
    alsoNearly: { 'in Prometheus 3': { [late]: undefined, [late3]: growing(580) } },
  },
  RunledgerFreshnessBudgetEroding: {
    fires: { [late]: growing(580) },
    nearly: { [late]: growing(595) },
    alsoFires: { 'in Prometheus 3': { [late]: undefined, [late3]: growing(580) } },
    alsoNearly: { 'in Prometheus 3': { [late]: undefined, [late3]: growing(595) } },
  },
  RunledgerWorkerMissing: {
    fires: { [ofWorker('store_retrying')]: undefined },
    nearly: { [ofWorker('store_retrying')]: `0x117 _x2 0x30` },
    alsoFires: gone(ofWorker('store_retrying')),
    alsoNearly: { 'another pod took over': replaced(ofWorker('store_retrying')) },
  },
  RunledgerPostgresUnavailable: {
    fires: { [ofWorker('store_retrying')]: steady(1), ...noProgress, [oldestJob]: clock() },
    with: ['RunledgerOldestJobTooOld'],
    nearly: { [ofWorker('store_retrying')]: steady(1) },
  },
  RunledgerDatabaseEventsWait: {
    fires: { [waitingFor('eu')]: steady(3) },
    nearly: { [waitingFor('eu')]: steady(0) },
    alsoFires: { 'a move has not ended': { [waitingFor('moving')]: steady(1) } },
  },
  RunledgerOldestJobTooOld: {
    fires: { [oldestJob]: steady(300) },
    nearly: { [oldestJob]: steady(60) },
  },
  RunledgerBacklogGrowing: {
    firesAt: 120,
    fires: { [waiting]: growing(20) },
    nearly: { [waiting]: growing(-20, 9_000) },
    alsoFires: {
      'no shard has so many, all together have': {
        [waiting]: undefined,
        [waitingIn(0)]: growing(8),
        [waitingIn(1)]: growing(8),
      },
    },
  },
  RunledgerWorkerWithoutProgress: {
    fires: noProgress,
    nearly: { ...noProgress, [waiting]: steady(0) },
    alsoNearly: { 'Redis is unavailable': { ...noProgress, [ofIngest('redis_reachable')]: steady(0) } },
  },
  RunledgerTokenSetStale: {
    fires: { [ofIngest('token_last_list_timestamp_seconds')]: clock(2_000) },
    nearly: { [ofIngest('token_last_list_timestamp_seconds')]: clock(900) },
  },
  RunledgerSecretsRefused: {
    fires: { [refused]: steady(1) },
    nearly: { [refused]: `0x113 1x5 0x40` },
  },
  RunledgerPlainHttpWithToken: {
    fires: { [plain]: growing(1) },
    nearly: { [plain.replace('true', 'false')]: growing(100) },
  },
  RunledgerRedisMemoryHigh: {
    fires: { [ofIngest('redis_memory_ratio')]: steady(0.65) },
    nearly: { [ofIngest('redis_memory_ratio')]: steady(0.59) },
  },
  RunledgerRedisMemoryCritical: {
    fires: { [ofIngest('redis_memory_ratio')]: steady(0.8) },
    with: ['RunledgerRedisMemoryHigh'],
    nearly: { [ofIngest('redis_memory_ratio')]: `0.2x115 0.8x1 0.2x40` },
  },
  RunledgerIdempotencyKeysRefused: {
    fires: { [keysRefused]: growing(1) },
    nearly: { [keysRefused.replace('idempotency-keys', 'under-way')]: growing(100) },
  },
  RunledgerRedisNotDurable: {
    fires: { [ofWorker('worker_redis_durable')]: steady(0) },
    nearly: { [ofIngest('redis_durable')]: undefined, [ofWorker('worker_redis_durable')]: undefined },
  },
  RunledgerShardUnavailable: {
    fires: { [ofShard(0)]: steady(1), [ofShard(1)]: steady(0) },
    nearly: { [ofShard(0)]: steady(1), [ofShard(1)]: steady(1) },
    alsoNearly: { 'no shard takes events': { [ofShard(0)]: steady(0), [ofShard(1)]: steady(0) } },
  },
  RunledgerDeadLetters: {
    firesAt: 120,
    fires: { [dead]: `_x113 1x40` },
    nearly: { [dead]: `_x60 7x90` },
    alsoFires: {
      'a worker counts from 0 again': { [dead]: `5x113 0x2 3x40` },
      'another worker has ended': { [dead]: `5x114`, [dead.replace('"w"', '"v"')]: `_x115 0x1 3x40` },
    },
    alsoNearly: { 'ten minutes without scrapes': { [dead]: `3x96 _x10 3x60` } },
  },
  RunledgerDefaultPartitionNotEmpty: {
    fires: { [ofWorker('default_partition_rows')]: steady(3) },
    nearly: { [ofWorker('default_partition_rows')]: `0x90 3x15 0x50` },
  },
  RunledgerPartitionsRunningOut: {
    fires: { [ofWorker('partitions_ahead')]: steady(1) },
    nearly: { [ofWorker('partitions_ahead')]: steady(2) },
  },
  RunledgerArchiveDamaged: {
    fires: { [archiveReads('damaged')]: growing(1) },
    nearly: { [archiveReads('away')]: growing(1) },
  },
  RunledgerArchiveIncomplete: {
    fires: { [ofWorker(archive)]: steady(2) },
    nearly: { [waitingFor('first', archive)]: `0x80 2x20 0x50`, [waitingFor('eu', archive)]: `0x101 2x20 0x30` },
  },
  RunledgerLogNotSealed: {
    fires: { [logFailures]: growing(2) },
    nearly: { [logFailures]: Array.from({ length: 15 }, (_, failures) => `${failures}x9`).join(' ') },
    alsoFires: { 'no event gets a place': { [stored]: growing(9), [sealed]: steady(5) } },
    alsoNearly: {
      'Postgres is unavailable': { [logFailures]: growing(8), [ofWorker('store_retrying')]: steady(1) },
      'no event is stored': { [stored]: steady(9), [sealed]: steady(5) },
      'each event gets a place': { [stored]: growing(9), [sealed]: growing(9) },
      'there is no log': { [stored]: growing(9), [sealed]: undefined },
    },
  },
  RunledgerLogContradicted: {
    fires: { [ofWorker('log_contradicted_logs')]: steady(1) },
    nearly: { [ofWorker('log_contradicted_logs')]: steady(0) },
  },
  RunledgerLogLeavesRefused: {
    fires: { [ofWorker('log_refused_leaves_total')]: growing(1) },
    nearly: { [ofWorker('log_refused_leaves_total')]: steady(3) },
  },
  RunledgerLogWitnessAway: {
    fires: { [witnessFailures]: growing(1) },
    nearly: { [witnessFailures]: growing(1), [cosignatures]: growing(1) },
    alsoNearly: { 'for a quarter of an hour': { [witnessFailures]: `0x100 1+1x14 15x40` } },
  },
  RunledgerConsoleErrors: {
    fires: { [answers(503)]: growing(6) },
    nearly: { [answers(503)]: growing(2) },
    // Two thirds of the answers, for five minutes.
    alsoNearly: { 'for a moment': { [answers(503)]: `0x112 0+120x5 600x40` } },
  },
  RunledgerConsoleSlow: {
    fires: { [queries('2')]: growing(50) },
    nearly: { [queries('2')]: growing(60) },
    alsoFires: { 'in Prometheus 3': { [queries('2')]: undefined, [queries('2.0')]: growing(50) } },
  },
  RunledgerReplicaLagging: {
    fires: { [ofConsole('replica_lag_seconds')]: steady(90) },
    nearly: { [ofConsole('replica_lag_seconds')]: steady(30) },
    alsoNearly: { 'the console reads a primary': { [ofConsole('replica_lag_seconds')]: undefined } },
  },
  RunledgerReaderRoleMissing: {
    fires: { [ofConsole('reader_role')]: steady(0) },
    nearly: { [ofConsole('reader_role')]: undefined },
  },
  RunledgerLoginDatabaseNotWritable: {
    fires: { [ofConsole('login_database_writable')]: steady(0) },
    nearly: { [ofConsole('login_database_writable')]: steady(1), [lostEntries]: steady(3) },
    alsoFires: { 'entries are lost': { [ofConsole('login_database_writable')]: steady(1), [lostEntries]: growing(1) } },
  },
  RunledgerLoginProviderUnavailable: {
    fires: { [logins('unavailable')]: growing(1) },
    nearly: { [logins('unavailable')]: steady(5), [logins('refused')]: growing(9) },
  },
  RunledgerOrganizationLimited: {
    fires: { [limited]: growing(1) },
    nearly: { [limited]: '30x60 31x4 32x4 32x90' },
  },
  RunledgerOrganizationFloods: {
    fires: { [overflowed]: growing(1), [oldestOverflow]: steady(31) },
    nearly: { [overflowed]: growing(1), [oldestOverflow]: steady(29) },
    alsoNearly: {
      'nobody floods while the lane drains': { [overflowed]: '30x60 31x4 32x90', [oldestOverflow]: steady(3600) },
    },
  },
  RunledgerFailureRateJumped: {
    firesAt: 120,
    fires: {
      [transitions('running', 'failed')]: `0+1x60 60+9x90`,
      [transitions('running', 'succeeded')]: `0+9x60 540+1x90`,
    },
    nearly: { [transitions('running', 'failed')]: growing(9), [transitions('running', 'succeeded')]: growing(1) },
    alsoFires: {
      'nothing had failed before': {
        [transitions('running', 'failed')]: `_x100 9+9x50`,
        [transitions('running', 'succeeded')]: `0+9x99 891x50`,
      },
    },
  },
  RunledgerBlind: {
    fires: { [ofController('watermark_lag_seconds')]: steady(400) },
    nearly: { [ofController('watermark_lag_seconds')]: steady(200) },
    alsoNearly: { 'another controller held the turn': { [other]: steady(400) } },
  },
  RunledgerControllerMissing: {
    fires: { [ofController('evaluations_total')]: '0x30 _x119', [ofController('tick_seconds_count')]: undefined },
    nearly: { [ofController('evaluations_total')]: '0x117 _x2 0x30' },
    alsoNearly: {
      'no controller was installed': {
        [ofController('evaluations_total')]: undefined,
        [ofController('tick_seconds_count')]: undefined,
        [ofController('watermark_lag_seconds')]: undefined,
        [ofController('declarations_last_list_timestamp_seconds')]: undefined,
      },
    },
  },
  RunledgerNoTicks: {
    fires: { [ofController('tick_seconds_count')]: steady(100) },
    nearly: { [ofController('tick_seconds_count')]: growing(0.5) },
  },
  RunledgerDeclarationsStale: {
    fires: { [ofController('declarations_last_list_timestamp_seconds')]: clock(2_400) },
    nearly: { [ofController('declarations_last_list_timestamp_seconds')]: clock(900) },
  },
  RunledgerJobsNotRecorded: {
    fires: { [ofController('job_capture_lag_seconds')]: steady(400) },
    nearly: { [ofController('job_capture_lag_seconds')]: steady(200) },
  },
  RunledgerDeclarationsRefused: {
    fires: { [declarations]: steady(2) },
    nearly: { [declarations]: '0x113 1x5 0x40' },
  },
  RunledgerSetAside: {
    fires: { [ofController('organizations_set_aside')]: steady(1) },
    alsoFires: { 'a Job is refused': { [ofController('captured_jobs_set_aside')]: steady(1) } },
    nearly: { [ofController('organizations_set_aside')]: '0x113 1x2 0x40' },
  },
  RunledgerNotificationsFailing: {
    fires: { [notifications('ok')]: growing(4), [notifications('failed')]: growing(6) },
    nearly: { [notifications('ok')]: growing(6), [notifications('failed')]: growing(4) },
    alsoNearly: { 'nobody is told anything': { [notifications('ok')]: steady(5) } },
  },
  RunledgerOutboxGrowing: {
    fires: { [ofController('outbox_oldest_seconds')]: steady(4_000) },
    nearly: { [ofController('outbox_oldest_seconds')]: steady(3_000) },
  },
};
