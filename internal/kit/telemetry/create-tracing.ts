import type { TraceSettings, Tracing } from './tracing.ts';

/**
 * Loads OpenTelemetry if the settings turn traces on; undefined otherwise. `process` names the
 * service.
 */
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
