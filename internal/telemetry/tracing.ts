import type { IncomingHttpHeaders } from 'node:http';
import type { BullMQOtel } from 'bullmq-otel';

/** Where in a trace something happens: opaque, kept for {@link Tracing.continue}. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export type Attributes = Record<string, string | number | undefined>;

/** How a request was answered. */
export interface AnsweredRequest {
  route: string;
  status: number;
  attributes: Attributes;
}

/**
 * What the pipeline tells of the way of an event, as spans of OpenTelemetry. Where traces are off there is none of it,
 * and nothing is called.
 */
export interface Tracing {
  readonly name: string;
  /** Sends what has not been sent yet. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** For BullMQ: carries the trace in the job. */
  readonly queue: Pick<BullMQOtel, 'tracer' | 'contextManager'>;
  /** Runs the work on a request, in the trace that its headers name, or a new one. */
  serve(
    method: string,
    headers: IncomingHttpHeaders,
    work: () => Promise<void>,
    answered: () => AnsweredRequest,
  ): Promise<void>;
  /** Where the caller is in its trace; undefined outside of any. */
  currentSpan(): SpanContext | undefined;
  /** Runs work done at once for several points: in the trace of the first that is recorded, with links to the others. */
  continue<T>(name: string, points: readonly SpanContext[], attributes: Attributes, work: () => Promise<T>): Promise<T>;
}

/** The samplers that `OTEL_TRACES_SAMPLER` names, each also for traces that begin here only. */
type RootSampler = 'always_on' | 'always_off' | 'traceidratio';

/** The standard variables that decide here; the library reads the others (headers, time-outs, certificates) itself. */
export interface TraceSettings {
  OTEL_SDK_DISABLED: boolean;
  OTEL_TRACES_EXPORTER: string | undefined;
  OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string | undefined;
  OTEL_TRACES_SAMPLER: RootSampler | `parentbased_${RootSampler}`;
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_BSP_SCHEDULE_DELAY: number;
}

/** Undefined unless traces are asked for: OpenTelemetry is not even loaded then. `process` names the service. */
export async function createTracing(process: string, settings: TraceSettings): Promise<Tracing | undefined> {
  if (!isWanted(settings)) return undefined;
  const { OpenTelemetry } = await import('./open-telemetry.ts');
  return new OpenTelemetry(process, settings);
}

function isWanted(settings: TraceSettings): boolean {
  if (settings.OTEL_SDK_DISABLED || settings.OTEL_TRACES_EXPORTER === 'none') return false;
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  return endpoint !== undefined || settings.OTEL_TRACES_EXPORTER === 'otlp';
}
