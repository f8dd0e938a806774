import { gaugeOf } from './database-label.ts';
import { Counter, durationBuckets, Gauge, Histogram, type Registry, unknownAtFirst } from './metrics.ts';

export type ConsoleMetrics = ReturnType<typeof consoleMetrics>;

/**
 * Why a console rejects a request: 429 for the first three, 429 or 503 for `memory`, otherwise 503.
 */
const rejectionReasons = ['rate', 'concurrency', 'streams', 'memory', 'unavailable', 'timeout', 'stopping'] as const;
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
  const registers = [registry];
  showPools(registry, pools);
  const rejections = new Counter({
    name: 'runledger_console_rejections_total',
    help: 'Requests of readers that got 429 (rate, concurrency, streams: the limits of their token; memory: the organization reads too much at once) or 503 (memory: all organizations together do; unavailable: Postgres does not answer; timeout: the query took longer than READ_STATEMENT_TIMEOUT_MS; stopping).',
    labelNames: ['reason'] as const,
    registers,
  });
  // Starts at 0, so that the first one counts as an increase.
  for (const reason of rejectionReasons) rejections.inc({ reason }, 0);
  return {
    reject: (reason: ConsoleRejection) => rejections.inc({ reason }),
    querySeconds: new Histogram({
      name: 'runledger_console_query_seconds',
      help: 'Duration of a read operation in Postgres, by operation, successful or not. Slow: check the load of Postgres, and look for queries with a wide time range.',
      labelNames: ['operation'] as const,
      buckets: durationBuckets,
      registers,
    }),
    exportedRows: new Counter({
      name: 'runledger_export_rows_total',
      help: 'Events sent by exports.',
      registers,
    }),
    replicaLag: unknownAtFirst(
      new Gauge({
        name: 'runledger_replica_lag_seconds',
        help: 'How far the replica that the console reads is behind. Absent when the console reads a primary, or cannot read.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    readerRole: unknownAtFirst(
      new Gauge({
        name: 'runledger_reader_role',
        help: '1 when queries run as the role runledger_reader, for which row-level security shows only one organization; 0 when the role is missing: the filter of each query is then the only protection.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
  };
}

/** The metrics of streams. */
export function streamMetrics(registry: Registry) {
  const registers = [registry];
  return {
    open: new Gauge({ name: 'runledger_streams_open', help: 'Streams that readers have open.', registers }),
    events: new Counter({
      name: 'runledger_stream_events_total',
      help: 'Events sent on streams; an event counts once for each stream that shows it.',
      registers,
    }),
    omitted: new Counter({
      name: 'runledger_stream_omitted_total',
      help: 'Events left out of streams, because more than 200 a second were stored or the reader is slow. The stream says how many.',
      registers,
    }),
  };
}

export type StreamMetrics = ReturnType<typeof streamMetrics>;

function showPools(registry: Registry, pools: ReadonlyMap<string | undefined, PoolFigures>): void {
  const gauge = (name: string, help: string, figure: keyof PoolFigures): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ['database'] as const,
        registers: [],
        collect() {
          for (const [database, figures] of pools) gaugeOf(this, database).set(figures[figure]);
        },
      }),
    );
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
