import type { IncomingHttpHeaders } from 'node:http';
import type { BullMQOtel } from 'bullmq-otel';

/** Identifies a span. Opaque: pass it to {@link Tracing.continue}. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export type Attributes = Record<string, string | number | undefined>;

/** The answer to a request. */
export interface AnsweredRequest {
  route: string;
  status: number;
  attributes: Attributes;
}

/** Records the pipeline as OpenTelemetry spans. A process without traces has no Tracing object. */
export interface Tracing {
  readonly name: string;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Lets BullMQ carry the trace in the job. */
  readonly queue: Pick<BullMQOtel, 'tracer' | 'contextManager'>;
  /** Runs `work` in a server span, in the trace that the headers name or in a new one. */
  serve(
    method: string,
    headers: IncomingHttpHeaders,
    work: () => Promise<void>,
    answered: () => AnsweredRequest,
  ): Promise<void>;
  /** The active span; undefined outside of any trace. */
  currentSpan(): SpanContext | undefined;
  /**
   * Runs `work` in a child span of the first sampled point, with links to the other sampled points.
   */
  continue<T>(name: string, points: readonly SpanContext[], attributes: Attributes, work: () => Promise<T>): Promise<T>;
}

/**
 * The samplers of `OTEL_TRACES_SAMPLER`; with `parentbased_`, one applies only to traces that begin
 * here.
 */
type RootSampler = 'always_on' | 'always_off' | 'traceidratio';

/**
 * The standard variables that this code reads; the library reads those for headers, time-outs and
 * certificates.
 */
export interface TraceSettings {
  OTEL_SDK_DISABLED: boolean;
  OTEL_TRACES_EXPORTER: string | undefined;
  OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string | undefined;
  OTEL_TRACES_SAMPLER: RootSampler | `parentbased_${RootSampler}`;
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_BSP_SCHEDULE_DELAY: number;
}
