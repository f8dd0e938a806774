import { panel, quantiles, rate, type Row } from './panel.ts';

/** State changes of executions with these labels, per second and organization. */
function byOrganization(labels: string): string {
  return `sum by (organization) (${rate(transitions, labels)})`;
}

const register = 'route="/v1/register/"';
const ofConsole = 'process="console"';
const notOfConsole = 'process!="console"';
const requests = 'runledger_http_requests_total';
const transitions = 'runledger_execution_transitions_total';
const dead = 'sum(runledger_events_dead_lettered_total{$ns}) or vector(0)';

/** Prometheus 3 stores the label le="30" as le="30.0". */
const within30s = String.raw`le=~"30(\\.0)?"`;

const succeeded = byOrganization('to="succeeded"');
const succeededFirst = byOrganization('from="succeeded"');

/** The rows of the dashboard, from the callers to the processes. */
export const rows: Row[] = [
  {
    title: 'Traffic',
    panels: [
      panel('Requests by status', 'reqps', [['{{status}}', `sum by (status) (${rate(requests, notOfConsole)})`]]),
      panel('Events accepted by kind', 'ops', [
        ['{{kind}}', `sum by (kind) (${rate('runledger_events_accepted_total')})`],
      ]),
      panel('Events accepted, busiest organizations', 'ops', [
        ['{{organization}}', `topk(10, sum by (organization) (${rate('runledger_events_accepted_total')}))`],
      ]),
      panel(
        'Plain HTTP',
        'reqps',
        [['token sent: {{token}}', `sum by (token) (${rate('runledger_plain_http_requests_total')})`]],
        'Ingest answers with 301. A token that was sent is compromised: rotate it.',
      ),
    ],
  },
  {
    title: 'Errors',
    panels: [
      panel('5xx of /v1/register/', 'percentunit', [
        [
          'share',
          `(sum(${rate(requests, `${register},status=~"5.."`)}) or vector(0)) / sum(${rate(requests, register)})`,
        ],
      ]),
      panel('503 by reason', 'ops', [['{{reason}}', `sum by (reason) (${rate('runledger_rejections_total')})`]]),
      panel('4xx by status', 'reqps', [
        ['{{status}}', `sum by (status) (${rate(requests, `${notOfConsole},status=~"4.."`)}) or vector(0)`],
      ]),
    ],
  },
  {
    title: 'Latency',
    panels: [
      panel('Answers of /v1/register/', 's', quantiles('runledger_http_request_duration_seconds', register)),
      panel('Commits to Redis', 's', quantiles('runledger_commit_duration_seconds')),
      panel('Event loop, p99', 's', [['{{process}} {{pod}}{{instance}}', 'nodejs_eventloop_lag_p99_seconds{$ns}']]),
    ],
  },
  {
    title: 'Backlog',
    panels: [
      panel('Events in the queue', 'short', [['events', 'max(runledger_queue_events{$ns})']]),
      panel('Jobs by state', 'short', [['{{state}}', 'sum by (state) (max by (state, shard) (runledger_queue_jobs{$ns}))']]),
      panel('Age of the oldest job', 's', [['oldest', 'max(runledger_queue_oldest_job_age_seconds{$ns})']]),
      panel('Overflow lane: events put in', 'ops', [
        ['{{organization}}', `sum by (organization) (${rate('runledger_overflowed_events_total')}) or vector(0)`],
      ]),
      panel('Overflow lane: age of the oldest job', 's', [
        ['oldest', 'max(runledger_overflow_oldest_job_age_seconds{$ns})'],
      ]),
      panel('Events per commit and per statement (p90)', 'short', [
        ['commit', `histogram_quantile(0.9, sum by (le) (${rate('runledger_commit_batch_events_bucket')}))`],
        ['statement', `histogram_quantile(0.9, sum by (le) (${rate('runledger_store_batch_events_bucket')}))`],
      ]),
    ],
  },
  {
    title: 'Lag from acceptance to commit',
    panels: [
      panel('Lag', 's', quantiles('runledger_event_lag_seconds')),
      panel('Later than 30 s', 'percentunit', [
        [
          'share',
          `1 - sum(${rate('runledger_event_lag_seconds_bucket', within30s)}) / sum(${rate('runledger_event_lag_seconds_count')})`,
        ],
      ]),
      panel('Accepted and stored', 'ops', [
        ['accepted', `sum(${rate('runledger_events_accepted_total')})`],
        ['stored', `sum(${rate('runledger_events_stored_total')})`],
      ]),
    ],
  },
  {
    title: 'Reconciliation',
    panels: [
      panel(
        'Difference',
        'short',
        [
          [
            'unaccounted for',
            `sum(runledger_events_accepted_total{$ns}) - sum(runledger_events_stored_total{$ns}) - (sum(runledger_events_duplicate_total{$ns}) - sum(runledger_events_redelivered_total{$ns})) - (${dead}) - max(runledger_queue_events{$ns})`,
          ],
        ],
        '0 when idle, unless a process has ended. See docs/operate/monitoring.md.',
      ),
      panel('Entries', 'short', [
        ['accepted', 'sum(runledger_events_accepted_total{$ns})'],
        ['stored', 'sum(runledger_events_stored_total{$ns})'],
        ['duplicate', 'sum(runledger_events_duplicate_total{$ns})'],
        ['redelivered', 'sum(runledger_events_redelivered_total{$ns})'],
        ['dead-lettered', dead],
        ['queued', 'max(runledger_queue_events{$ns})'],
      ]),
    ],
  },
  {
    title: 'Outcomes',
    panels: [
      panel(
        'Executions ended, by organization and state',
        'ops',
        [
          ['{{organization}} succeeded', `clamp_min(${succeeded} - (${succeededFirst} or 0 * ${succeeded}), 0)`],
          ['{{organization}} failed', byOrganization('to="failed"')],
        ],
        'An execution whose ERROR is stored after its END counts as failed only.',
      ),
      panel('Failing share by organization', 'percentunit', [
        [
          '{{organization}}',
          `${byOrganization('to="failed"')} / ${byOrganization('from=~"none|running",to=~"succeeded|failed"')}`,
        ],
      ]),
      panel('Running and overdue', 'short', [
        ['running', 'sum(max by (database) (runledger_executions_running{$ns}))'],
        ['overdue', 'sum(max by (database) (runledger_executions_overdue{$ns}))'],
      ]),
      panel('Anomalies', 'ops', [['{{anomaly}}', `sum by (anomaly) (${rate('runledger_execution_anomalies_total')})`]]),
    ],
  },
  {
    title: 'Token set',
    panels: [
      panel('Loaded', 'short', [
        ['tokens', 'min(runledger_tokens{$ns})'],
        ['organizations', 'min(runledger_token_organizations{$ns})'],
      ]),
      panel('Rejected entries', 'short', [['{{reason}}', 'max by (reason) (runledger_token_secrets_refused{$ns})']]),
      panel('Age of the last list', 's', [['age', 'time() - min(runledger_token_last_list_timestamp_seconds{$ns})']]),
    ],
  },
  {
    title: 'Redis',
    panels: [
      panel('Memory', 'percentunit', [['maxmemory {{shard}}', 'max by (shard) (runledger_redis_memory_ratio{$ns})']]),
      panel('Reachable and durable', 'short', [
        ['reachable {{shard}}', 'min by (shard) (runledger_redis_reachable{$ns})'],
        ['durable {{shard}}', 'min by (shard) (runledger_redis_durable{$ns})'],
      ]),
      panel('Commits in flight, events buffered', 'short', [
        ['commits', 'sum(runledger_commits_in_flight{$ns})'],
        ['events', 'sum(runledger_events_buffered{$ns})'],
      ]),
    ],
  },
  {
    title: 'Shards of the queue',
    panels: [
      panel('Takes events', 'short', [['{{shard}}', 'max by (shard) (runledger_shard_admitting{$ns})']]),
      panel('Waiting jobs', 'short', [['{{shard}}', 'max by (shard) (runledger_queue_jobs{state="waiting",$ns})']]),
      panel('Moves, and events put into a second shard', 'ops', [
        ['moves', `sum(${rate('runledger_shard_moves_total')})`],
        ['events', `sum(${rate('runledger_events_repeated_total')})`],
      ]),
    ],
  },
  {
    title: 'Postgres',
    panels: [
      panel('Statements', 's', quantiles('runledger_store_statement_duration_seconds')),
      panel('Retrying and retries', 'short', [
        ['retrying', 'max(runledger_store_retrying{$ns})'],
        ['retries per second', `sum(${rate('runledger_store_retries_total')})`],
      ]),
      panel('Since the last commit', 's', [
        ['age', 'time() - max(runledger_store_last_progress_timestamp_seconds{$ns})'],
      ]),
      panel('Partitions', 'short', [
        ['days ahead', 'min(max by (database) (runledger_partitions_ahead{$ns}))'],
        ['rows in DEFAULT', 'max(runledger_default_partition_rows{$ns})'],
        ['dead letters', dead],
      ]),
    ],
  },
  {
    title: 'Databases',
    panels: [
      panel('Retrying', 'short', [['{{database}}', 'max by (database) (runledger_store_retrying{$ns})']]),
      panel(
        'Jobs that wait for a database',
        'short',
        [['{{database}}', 'max by (database) (runledger_database_waiting_jobs{$ns}) or vector(0)']],
        'moving: for the end of a move. They are in Redis, beside the common queue.',
      ),
      panel('Events set aside', 'ops', [
        ['{{database}}', `sum by (database) (${rate('runledger_events_set_aside_total')}) or vector(0)`],
      ]),
      panel('Age of the watermark, by database', 's', [
        ['{{database}}', 'min by (database) (runledger_watermark_lag_seconds{$ns})'],
      ]),
      panel('Running executions, by database', 'short', [
        ['{{database}}', 'max by (database) (runledger_executions_running{$ns})'],
      ]),
    ],
  },
  {
    title: 'Console',
    panels: [
      panel('Reads by status', 'reqps', [['{{status}}', `sum by (status) (${rate(requests, ofConsole)})`]]),
      panel('Rejected reads by reason', 'reqps', [
        ['{{reason}}', `sum by (reason) (${rate('runledger_console_rejections_total')})`],
      ]),
      panel('Queries by operation, p99', 's', [
        [
          '{{operation}}',
          `histogram_quantile(0.99, sum by (operation, le) (${rate('runledger_console_query_seconds_bucket')}))`,
        ],
      ]),
      panel('Connections', 'short', [
        ['held', 'sum(runledger_console_connections{$ns})'],
        ['idle', 'sum(runledger_console_connections_idle{$ns})'],
        ['queries that wait for one', 'sum(runledger_console_queries_waiting{$ns})'],
      ]),
      panel('Streams', 'short', [
        ['open', 'sum(runledger_streams_open{$ns})'],
        ['events per second', `sum(${rate('runledger_stream_events_total')})`],
        ['left out per second', `sum(${rate('runledger_stream_omitted_total')})`],
      ]),
      panel('Exported events', 'ops', [['events', `sum(${rate('runledger_export_rows_total')})`]]),
      panel('Replica lag and reader role', 'short', [
        ['lag in seconds', 'max(runledger_replica_lag_seconds{$ns}) or vector(0)'],
        ['queries run as runledger_reader', 'min(runledger_reader_role{$ns})'],
      ]),
    ],
  },
  {
    title: 'Controller',
    panels: [
      panel('Age of the watermark', 's', [
        ['age', 'max(min by (database) (runledger_watermark_lag_seconds{$ns}))'],
      ]),
      panel('Expectations not met', 'short', [
        ['{{kind}}', 'sum by (kind) (max by (kind, database) (runledger_verdicts{$ns}))'],
      ]),
      panel('Ticks, p99', 's', quantiles('runledger_tick_seconds')),
      panel('Evaluations', 'ops', [
        ['evaluations', `sum(${rate('runledger_evaluations_total')})`],
        ['failed ticks', `sum(${rate('runledger_ticks_failed_total')})`],
      ]),
      panel('Declarations', 'short', [
        ['automations', 'max(runledger_automations_declared{$ns})'],
        ['refused: {{reason}}', 'max by (reason) (runledger_declarations_refused{$ns})'],
      ]),
    ],
  },
  {
    title: 'Notifications',
    panels: [
      panel('Attempts by receiver and result', 'ops', [
        ['{{receiver}} {{result}}', `sum by (receiver, result) (${rate('runledger_notifications_total')})`],
      ]),
      panel('Deliveries that wait', 'short', [
        ['deliveries', 'sum(max by (database) (runledger_outbox_deliveries{$ns}))'],
      ]),
      panel('Age of the outbox', 's', [['oldest delivery', 'max(runledger_outbox_oldest_seconds{$ns})']]),
    ],
  },
  {
    title: 'Processes',
    panels: [
      panel('CPU', 'short', [['{{process}} {{pod}}{{instance}}', rate('process_cpu_seconds_total')]]),
      panel('Memory', 'bytes', [['{{process}} {{pod}}{{instance}}', 'process_resident_memory_bytes{$ns}']]),
    ],
  },
];
