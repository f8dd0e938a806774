import type { World } from './promtool.ts';

/** How long the worlds last, in minutes. */
export const minutes = 150;

/** A counter that grows by so many a minute. */
export function growing(perMinute: number, from = 0): string {
  return `${from}${perMinute < 0 ? '' : '+'}${perMinute}x${minutes}`;
}

/** A gauge that stays as it is. */
export function steady(value: number): string {
  return `${value}x${minutes}`;
}

/** A timestamp that follows the clock, so many seconds behind it. */
export function clock(behind = 0): string {
  return `${-behind}+60x${minutes}`;
}

export const requests = (status: number): string =>
  `runledger_http_requests_total{namespace="rl",pod="i",route="/v1/register/",method="POST",status="${status}"}`;
export const transitions = (from: string, to: string, organization = 'acme'): string =>
  `runledger_execution_transitions_total{namespace="rl",pod="w",organization="${organization}",from="${from}",to="${to}"}`;
export const late = 'runledger_event_lag_seconds_bucket{namespace="rl",pod="w",le="30"}';
/** As Prometheus 3 stores it. */
export const late3 = late.replace('"30"', '"30.0"');
export const waiting = 'runledger_queue_jobs{namespace="rl",pod="i",state="waiting"}';
export const progressAt = 'runledger_store_last_progress_timestamp_seconds{namespace="rl",pod="w"}';

export const answers = (status: number): string =>
  `runledger_http_requests_total{namespace="rl",pod="c",process="console",route="/v1/executions/",method="GET",status="${status}"}`;
/** Queries of the console that took at most so many seconds. */
export const queries = (le: string): string =>
  `runledger_console_query_seconds_bucket{namespace="rl",pod="c",operation="listExecutions",le="${le}"}`;

export const logins = (result: string): string =>
  `runledger_logins_total{namespace="rl",pod="c",way="oidc",result="${result}"}`;

export const notifications = (result: string): string =>
  `runledger_notifications_total{namespace="rl",pod="k",receiver="alertmanager",result="${result}"}`;

/** A gauge or counter of an ingest, a worker, a console or a controller. */
export const ofIngest = (name: string): string => `runledger_${name}{namespace="rl",pod="i"}`;
export const ofConsole = (name: string): string => `runledger_${name}{namespace="rl",pod="c"}`;
export const ofController = (name: string): string => `runledger_${name}{namespace="rl",pod="k"}`;
export const ofWorker = (name: string): string => `runledger_${name}{namespace="rl",pod="w"}`;

/**
 * Ingest, a worker, a console and a controller under load, all being well: 600 events a minute, a
 * tenth of the executions failing, 60 reads a minute.
 */
export const healthy: World = {
  [requests(201)]: growing(600),
  [requests(400)]: growing(6),
  [late]: growing(599),
  [ofWorker('event_lag_seconds_count')]: growing(600),
  [ofIngest('redis_reachable')]: steady(1),
  [ofIngest('redis_durable')]: steady(1),
  [ofIngest('redis_memory_ratio')]: steady(0.2),
  [ofIngest('queue_oldest_job_age_seconds')]: steady(0.05),
  [ofIngest('token_last_list_timestamp_seconds')]: clock(200),
  [`runledger_token_secrets_refused{namespace="rl",pod="i",reason="shared"}`]: steady(0),
  [`runledger_plain_http_requests_total{namespace="rl",pod="i",token="true"}`]: steady(0),
  [waiting]: steady(2),
  [ofWorker('worker_redis_durable')]: steady(1),
  [ofWorker('store_retrying')]: steady(0),
  [progressAt]: clock(1),
  [ofWorker('events_stored_total')]: growing(600),
  [ofWorker('default_partition_rows')]: steady(0),
  [ofWorker('partitions_ahead')]: steady(8),
  [ofWorker('maintenance_failures_total')]: steady(0),
  [answers(200)]: growing(60),
  [queries('2')]: growing(60),
  [queries('5')]: growing(60),
  [queries('+Inf')]: growing(60),
  [ofConsole('replica_lag_seconds')]: steady(0),
  [ofConsole('reader_role')]: steady(1),
  [ofConsole('login_database_writable')]: steady(1),
  [logins('ok')]: growing(1),
  [logins('unavailable')]: steady(0),
  [ofController('watermark_lag_seconds')]: steady(15),
  [notifications('ok')]: growing(10),
  [notifications('failed')]: steady(0),
  [ofController('outbox_oldest_seconds')]: steady(0),
  [ofController('organizations_set_aside')]: steady(0),
  [ofController('captured_jobs_set_aside')]: steady(0),
  [ofController('evaluations_total')]: growing(100),
  [ofController('tick_seconds_count')]: growing(12),
  [ofController('declarations_last_list_timestamp_seconds')]: clock(200),
  [`runledger_declarations_refused{namespace="rl",pod="k",reason="InvalidSpec"}`]: steady(0),
  [transitions('none', 'running')]: growing(10),
  [transitions('running', 'succeeded')]: growing(9),
  [transitions('running', 'failed')]: growing(1),
};

/** The healthy world with what differs; undefined takes a series away. */
export function worldWith(differs: Record<string, string | undefined>): World {
  const merged = Object.entries({ ...healthy, ...differs });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
