import { INVALID_SPAN_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { BullMQOtel, BullMQOTelSpan } from 'bullmq-otel';
import type { Tracing } from './tracing.ts';

/**
 * BullMQ's adapter without spans of its own work (polling, pausing, looking for stalled jobs),
 * which belong to no event. Span names lose the name of the job, which is a number of events.
 */
export function queueTracing(): Tracing['queue'] {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: 'runledger' });
  const startSpan: typeof tracer.startSpan = (name, options: { kind?: SpanKind } = {}, parent) => {
    if (options.kind === SpanKind.INTERNAL) return new BullMQOTelSpan(trace.wrapSpanContext(INVALID_SPAN_CONTEXT));
    return tracer.startSpan(name.replace(/\.\d+ events$/, ''), options, parent);
  };
  return { tracer: Object.assign(Object.create(tracer) as typeof tracer, { startSpan }), contextManager };
}
