import type { IncomingHttpHeaders } from 'node:http';
import { context, propagation, SpanKind, SpanStatusCode, trace, TraceFlags, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { queueTracing } from './queue-tracing.ts';
import { samplerOf } from './sampler.ts';
import type { AnsweredRequest, Attributes, SpanContext, TraceSettings, Tracing } from './tracing.ts';
import { messageOf } from '../errors/message-of.ts';

/** Most links of one span; collectors keep this many. */
const mostLinks = 128;

/**
 * Sends traces over OTLP/HTTP with OpenTelemetry. Registers itself as the global provider, as the
 * OpenTelemetry API requires.
 */
export class OpenTelemetry implements Tracing {
  readonly name = 'tracing';
  readonly queue: Tracing['queue'];
  readonly #provider: TracerProvider;

  constructor(process: string, settings: TraceSettings) {
    const named = resourceFromAttributes({ 'service.name': `runledger-${process}` });
    const fromEnvironment = detectResources({ detectors: [envDetector] });
    const exporter = new OTLPTraceExporter();
    const scheduledDelayMillis = settings.OTEL_BSP_SCHEDULE_DELAY;
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(named).merge(fromEnvironment),
      sampler: samplerOf(settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis })],
    });
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(this.#provider);
    this.queue = queueTracing();
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    // An unavailable collector must not delay the end of the process.
    await this.#provider.shutdown().catch(() => undefined);
    trace.disable();
    propagation.disable();
    context.disable();
  }

  serve(
    method: string,
    headers: IncomingHttpHeaders,
    work: () => Promise<void>,
    answered: () => AnsweredRequest,
  ): Promise<void> {
    const parent = propagation.extract(context.active(), headers);
    const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } };
    return this.#tracer.startActiveSpan(method, options, parent, (span) =>
      ended(span, async () => {
        await work();
        const { route, status, attributes } = answered();
        span.updateName(`${method} ${route}`);
        span.setAttributes({ 'http.route': route, 'http.response.status_code': status, ...attributes });
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      }),
    );
  }

  currentSpan(): SpanContext | undefined {
    return trace.getSpanContext(context.active());
  }

  continue<T>(
    name: string,
    points: readonly SpanContext[],
    attributes: Attributes,
    work: () => Promise<T>,
  ): Promise<T> {
    const recorded = points.filter(({ traceFlags }) => (traceFlags & TraceFlags.SAMPLED) !== 0);
    const [parent = points[0], ...others] = recorded;
    const links = others.slice(0, mostLinks).map((point) => ({ context: point }));
    const from = parent === undefined ? context.active() : trace.setSpanContext(context.active(), parent);
    return this.#tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL, attributes, links }, from, (span) =>
      ended(span, work),
    );
  }

  get #tracer() {
    return trace.getTracer('runledger');
  }
}

async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Only the message: errors of libraries have payloads that must not leave the process.
    span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
    throw error;
  } finally {
    span.end();
  }
}
