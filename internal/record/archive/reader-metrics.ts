import { Counter, durationBuckets, Histogram, metricsIn, type Registry } from '../../kit/telemetry/metrics.ts';

/** What became of a read of the archive. */
const outcomes = ['read', 'away', 'damaged'] as const;

export type ReaderMetrics = ReturnType<typeof readerMetrics>;

/**
 * The metrics of a process that reads days which only the archive has. Parts of a process that
 * share a registry share them.
 */
export function readerMetrics(registry: Registry) {
  const { counter, histogram } = metricsIn(registry);
  const known = registry.getSingleMetric('runledger_archive_reads_total');
  const knownSeconds = registry.getSingleMetric('runledger_archive_read_seconds');
  if (known instanceof Counter && knownSeconds instanceof Histogram) return readsIn(known, knownSeconds);
  const reads = counter(
    'runledger_archive_reads_total',
    'Objects of the archive that were asked for events of cold days, by outcome: read; away: the archive did not answer, and a reader got 503 or a worker tries again; damaged: the object or its manifest is gone or is not the one that was written.',
    ['outcome'],
  );
  for (const outcome of outcomes) reads.inc({ outcome }, 0);
  const seconds = histogram(
    'runledger_archive_read_seconds',
    'Duration of reading the wanted events of one object of the archive.',
    durationBuckets,
  );
  return readsIn(reads, seconds);
}

function readsIn(reads: Counter<'outcome'>, seconds: Histogram) {
  return {
    onRead: (outcome: (typeof outcomes)[number], ms: number): void => {
      reads.inc({ outcome });
      seconds.observe(ms / 1_000);
    },
  };
}
