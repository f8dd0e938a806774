import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describeError, type Logger } from '../../../internal/telemetry/logger.ts';
import { createRegistry } from '../../../internal/telemetry/metrics.ts';
import { tokenMetrics } from '../../../internal/telemetry/token-metrics.ts';

/** A logger whose lines a test reads. */
export function capturedLogger(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { logger: pino({ level: 'trace', serializers: { error: describeError } }, sink), lines };
}

/**
 * Metrics, and the value of one of their samples by its name and labels as `/metrics` prints them.
 */
export function capturedMetrics() {
  const registry = createRegistry('test');
  const metrics = tokenMetrics(registry);
  const text = (): Promise<string> => registry.metrics();
  return {
    metrics,
    text,
    async value(sample: string): Promise<number> {
      const line = (await text()).split('\n').find((candidate) => candidate.startsWith(sample));
      return Number(line?.split(' ').at(-1));
    },
  };
}
