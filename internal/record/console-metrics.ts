import { durationBuckets, gaugeOf, metricsIn, type Gauge, type Registry } from '../kit/telemetry/metrics.ts';

export type ConsoleMetrics = ReturnType<typeof consoleMetrics>;

/**
 * Why a console rejects a request: 429 for the first three, 429 or 503 for `memory`, otherwise 503.
 */
const rejectionReasons = [
  ...(['rate', 'concurrency', 'streams', 'memory', 'unavailable', 'archive', 'timeout', 'stopping'] as const),
] as const;
export type ConsoleRejection = (typeof rejectionReasons)[number];

/** Connections of the pool, idle ones among them, and queries that wait for one. */
export interface PoolFigures {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/**
 * The metrics of the console. A scrape reads `pools` by database name; a single database has none.
 */
export function consoleMetrics(registry: Registry, pools: ReadonlyMap<string | undefined, PoolFigures>) {
  const { counter, lateGauge, histogram } = metricsIn(registry);
  showPools(registry, pools);
  const rejections = counter(
    'runledger_console_rejections_total',
    'Requests of readers that got 429 (rate, concurrency, streams: the limits of their token; memory: the organization reads too much at once) or 503 (memory: all organizations together do; unavailable: Postgres does not answer; archive: a day that only the archive has cannot be read; timeout: the query took longer than READ_STATEMENT_TIMEOUT_MS; stopping).',
    ['reason'],
  );
  // Starts at 0, so that the first one counts as an increase.
  for (const reason of rejectionReasons) rejections.inc({ reason }, 0);
  return {
    reject: (reason: ConsoleRejection) => rejections.inc({ reason }),
    querySeconds: histogram(
      'runledger_console_query_seconds',
      'Duration of a read operation in Postgres, by operation, successful or not. Slow: check the load of Postgres, and look for queries with a wide time range.',
      durationBuckets,
      ['operation'],
    ),
    exportedRows: counter('runledger_export_rows_total', 'Events sent by exports.'),
    replicaLag: lateGauge(
      'runledger_replica_lag_seconds',
      'How far the replica that the console reads is behind. Absent when the console reads a primary, or cannot read.',
      ['database'],
    ),
    readerRole: lateGauge(
      'runledger_reader_role',
      '1 when queries run as the role runledger_reader, for which row-level security shows only one organization; 0 when the role is missing: the filter of each query is then the only protection.',
      ['database'],
    ),
  };
}

function showPools(registry: Registry, pools: ReadonlyMap<string | undefined, PoolFigures>): void {
  const { readGauge } = metricsIn(registry);
  const gauge = (name: string, help: string, figure: keyof PoolFigures): void => {
    const read = (gauge: Gauge<'database'>): void => {
      for (const [database, figures] of pools) gaugeOf(gauge, database).set(figures[figure]);
    };
    readGauge(name, help, read, ['database']);
  };
  gauge('runledger_console_connections', 'Connections to Postgres that the console holds.', 'totalCount');
  gauge('runledger_console_connections_idle', 'Postgres connections of the console that run no query.', 'idleCount');
  gauge(
    'runledger_console_queries_waiting',
    'Queries that wait for a connection. Above zero for long: the console needs more connections (CONSOLE_DATABASE_CONNECTIONS), or its queries are slow.',
    'waitingCount',
  );
}

/** The gauges set by the watch of a database, labelled with its name if there are several. */
export function watchMetricsOf({ replicaLag, readerRole }: ConsoleMetrics, database?: string) {
  return { replicaLag: gaugeOf(replicaLag, database), readerRole: gaugeOf(readerRole, database) };
}

export type WatchMetrics = ReturnType<typeof watchMetricsOf>;
