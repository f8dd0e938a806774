import { INVALID_SPAN_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { BullMQOtel, BullMQOTelSpan } from 'bullmq-otel';
import type { Tracing } from './tracing.ts';

/**
 * BullMQ's adapter without the spans of background work (polling, pausing, stalled jobs), which
 * belong to no event. Removes the job's name, a number of events, from span names.
 */
export function queueTracing(): Tracing['queue'] {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: 'runledger' });
  const startSpan: typeof tracer.startSpan = (name, options: { kind?: SpanKind } = {}, parent) => {
    if (options.kind === SpanKind.INTERNAL) return new BullMQOTelSpan(trace.wrapSpanContext(INVALID_SPAN_CONTEXT));
    return tracer.startSpan(name.replace(/\.\d+ events$/, ''), options, parent);
  };
  return { tracer: Object.assign(Object.create(tracer) as typeof tracer, { startSpan }), contextManager };
}
