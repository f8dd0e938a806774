import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { metricNames } from '../../support/metrics-text.ts';
import { playFailure, playFleet, playOddities, playReads } from '../../support/observability/demo-load.ts';
import { filledIn, panels, queriesOf } from '../../support/observability/grafana.ts';
import { Prometheus } from '../../support/observability/prometheus.ts';
import { declaredAutomation, RealProcesses } from '../../support/observability/real-processes.ts';
import { emptyDatabase, emptyRedis } from '../../support/servers.ts';
import { StreamReader } from '../../support/stream-reader.ts';
import { until } from '../../support/until.ts';

/** What is a time, and not a number of things. */
const times = new Set([
  'runledger_token_last_list_timestamp_seconds',
  'runledger_declarations_last_list_timestamp_seconds',
  'runledger_store_last_progress_timestamp_seconds',
]);

describe('a real Prometheus scraping real processes under load', function suite() {
  this.timeout(90_000);
  let processes: RealProcesses;
  let prometheus: Prometheus;
  let stream: StreamReader | undefined;
  let accepted: number;
  /** When the load has just been scraped: 30 s later its rates are gone. */
  let at: number;

  before(async () => {
    const [redis, database] = await Promise.all([emptyRedis(), emptyDatabase()]);
    processes = await RealProcesses.start({ REDIS_URL: redis.url, DATABASE_URL: database }, true);
    prometheus = await Prometheus.start(processes.ops);
    stream = await StreamReader.open(processes.consolePort);
    accepted = await playFleet(processes.client, 150);
    accepted += await playOddities(processes.client);
    accepted += await playFailure(processes.client, declaredAutomation);
    // Rates need two scrapes of each process with something between them. One Idempotency-Key was
    // answered twice.
    const first = accepted - 1;
    await playReads(processes.reader);
    const counted = `sum(runledger_events_accepted_total) == ${first} and sum(runledger_events_stored_total) == ${first} and sum(runledger_export_rows_total) > 0`;
    await until(
      'the first part is scraped from every process',
      async () => (await prometheus.query(counted)).length > 0,
    );
    await until('a notification was tried, and a tick lies between two scrapes', controlled, 60_000);
    await playReads(processes.reader);
    accepted += await playFleet(processes.client, 150);
    const scraped = `min(timestamp(up)) > ${Date.now() / 1_000} and sum(up) == ${processes.ops.length} and sum(runledger_events_stored_total) == ${accepted - 1}`;
    at = await until('a scrape of each process after the load', async () => {
      // Scrapes of then have ended: a later one cannot fail at that time.
      const time = Date.now() / 1_000 - 2;
      return (await prometheus.query(scraped, time)).length > 0 && time;
    });
  });

  const controlled = async (): Promise<boolean> =>
    (await prometheus.query('rate(runledger_tick_seconds_count[30s]) > 0 and on () runledger_notifications_total'))
      .length > 0;

  after(async () => {
    stream?.[Symbol.dispose]();
    await Promise.all([prometheus.stop(), processes.stop()]);
  });

  it('reconciles once it is quiet', async () => {
    const [difference = ''] = queriesOf('Difference', '30s');
    // One Idempotency-Key was answered twice and accepted once.
    const entered = `sum(runledger_events_accepted_total) == ${accepted - 1}`;
    await until('a scrape of ingest after the last answer', async () => (await prometheus.query(entered)).length > 0);
    // Ingest and worker are scraped in turn.
    const balanced = (): Promise<boolean | undefined> =>
      prometheus.query(difference).then(([books]) => books?.value === 0);
    await until('the scrape of the worker that belongs to it', balanced);
    expect(accepted).to.be.above(900);
  });

  it('sees every metric of metrics.txt, with a sensible value', async () => {
    const missing: string[] = [];
    for (const name of metricNames()) {
      const samples = await prometheus.query(`{__name__=~"${name}(_count)?"}`, at);
      if (samples.length === 0) missing.push(name);
      const limit = times.has(name) ? Date.now() / 1_000 + 1 : 100_000;
      for (const { value } of samples) expect(value, name).to.be.within(0, limit);
    }
    // No organization has a rate or floods, REDIS_ACKS is 0, and the only database is a primary.
    // Without a cluster no Automation has a status, and no Job is captured. The log is off. The
    // controller sets nobody aside.
    expect(missing).to.deep.equal([
      'runledger_organization_limited_requests_total',
      'runledger_overflowed_events_total',
      'runledger_redis_replicas',
      'runledger_log_sealed_events_total',
      'runledger_log_checkpoints_total',
      'runledger_log_refused_leaves_total',
      'runledger_log_failures_total',
      'runledger_log_contradicted_logs',
      'runledger_log_cosignatures_total',
      'runledger_log_witness_failures_total',
      'runledger_events_set_aside_total',
      'runledger_database_waiting_jobs',
      'runledger_replica_lag_seconds',
      'runledger_organizations_set_aside',
      'runledger_status_writes_total',
      'runledger_job_capture_lag_seconds',
      'runledger_job_events_total',
      'runledger_captured_jobs_set_aside',
      'runledger_job_watch_restarts_total',
    ]);
  });

  it('sees what happened: kinds, outcomes, anomalies, refusals, plain HTTP', async () => {
    const value = async (expr: string): Promise<number> => (await prometheus.query(expr, at))[0]?.value ?? 0;
    expect(await value('count(count by (kind) (runledger_events_accepted_total{organization="acme"}))')).to.equal(5);
    expect(await value('sum(runledger_execution_transitions_total{from="succeeded",to="failed"})')).to.be.above(0);
    expect(await value('sum(runledger_execution_anomalies_total{anomaly="event_after_end"})')).to.be.above(0);
    expect(await value('sum(runledger_execution_anomalies_total{anomaly="start_repeated"})')).to.be.above(0);
    expect(await value('max(runledger_token_secrets_refused{reason="too-short"})')).to.equal(1);
    expect(await value('runledger_reader_role')).to.equal(1);
    expect(await value('runledger_streams_open')).to.equal(1);
    expect(await value('sum(runledger_stream_events_total)')).to.be.above(0);
    expect(await value('sum(runledger_plain_http_requests_total{token="true"})')).to.equal(1);
    expect(await value('runledger_idempotent_replays_total')).to.equal(1);
    expect(await value('max(runledger_executions_running)')).to.be.above(0);
    expect(await value('nodejs_eventloop_lag_p99_seconds')).to.be.above(0);
  });

  it('is told nothing that promtool would refuse', async () => {
    for (const input of await processes.metrics()) {
      expect(execFileSync('promtool', ['check', 'metrics'], { input }).toString()).to.equal('');
    }
  });

  it('fires no alert but those that were provoked', async () => {
    const firing = await prometheus.query('count by (alertname) (ALERTS{alertstate="firing"})', at);
    expect(firing.map(({ labels }) => labels['alertname'])).to.deep.equal(['RunledgerPlainHttpWithToken']);
  });

  for (const { title, targets = [] } of panels.filter(({ type }) => type !== 'row')) {
    it(`has data for the panel "${title}"`, async () => {
      for (const { expr } of targets) {
        const samples = await prometheus.query(filledIn(expr, '30s'), at);
        expect(samples, expr).not.to.have.length(0);
        for (const { value } of samples) expect(value, expr).to.satisfy(Number.isFinite);
      }
    });
  }
});
