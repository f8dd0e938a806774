import { createRegistry } from '../../../internal/kit/telemetry/metrics.ts';
import { tokenMetrics } from '../../../internal/cluster/tokens/token-metrics.ts';

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
