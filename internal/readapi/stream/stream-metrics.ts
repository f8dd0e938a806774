import { metricsIn, type Registry } from '../../kit/telemetry/metrics.ts';

/** The metrics of streams. */
export function streamMetrics(registry: Registry) {
  const { counter, gauge } = metricsIn(registry);
  return {
    open: gauge('runledger_streams_open', 'Streams that readers have open.'),
    events: counter(
      'runledger_stream_events_total',
      'Events sent on streams; an event counts once for each stream that shows it.',
    ),
    omitted: counter(
      'runledger_stream_omitted_total',
      'Events left out of streams, because more than 200 a second were stored or the reader is slow. The stream says how many.',
    ),
  };
}

export type StreamMetrics = ReturnType<typeof streamMetrics>;
