import { createIngest, ingestSettings } from '../../../cmd/ingest/ingest.ts';
import { readConfig } from '../../../internal/config/read.ts';
import { Distribution } from '../../../internal/kit/telemetry/distribution.ts';
import { EventTally } from '../../../internal/queue/producer-metrics.ts';
import { Counter, Gauge, Histogram } from '../../../internal/kit/telemetry/metrics.ts';
import { RequestTally } from '../../../internal/intake/http/api-metrics.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';

/*
 * Ingest whose metrics and logs can be switched on and off while it runs, by a message of its
 * parent: `on` or `off`. Both in one process, so that neither the luck of a process nor the
 * neighbours on the machine favour a side. Tells the parent its port, and each switch once it is
 * done.
 */
const metrics = switchable();
const telemetry = createTelemetry('ingest', 'info');
const settings = { PORT: '0', PUBLIC_URL: 'https://runledger.example', TRUST_PROXY: 'true' };
const nothing = (): Promise<void> => Promise.resolve();
const tokens = {
  name: 'tokens',
  start: nothing,
  stop: nothing,
  authenticateDigest: () => ({ status: 'unknown' }) as const,
  tokensOf: () => new Map(),
  organizations: () => [],
  unready: () => undefined,
  authenticate: () => ({ status: 'known', organization: 'acme', scope: 'write', tokenId: '0123456789ab' }) as const,
};
const config = readConfig(ingestSettings, { REDIS_URL: process.env['REDIS_URL'], ...settings });
const { component, servers } = createIngest(config, tokens, telemetry);
await component.start();
process.on('message', (variant: 'on' | 'off') => {
  metrics.on = variant === 'on';
  telemetry.logger.level = metrics.on ? 'info' : 'silent';
  process.send?.(variant);
});
process.send?.(servers[0]?.port);

/** Makes every metric do nothing while it is off: nothing is looked up, added or timed. */
function switchable(): { on: boolean } {
  const state = { on: true };
  for (const [type, method] of [
    [Counter, 'incWithoutExemplar'],
    [Histogram, 'observeWithoutExemplar'],
    [Gauge, 'set'],
    [Gauge, 'inc'],
    [RequestTally, 'add'],
    [EventTally, 'add'],
    [Distribution, 'add'],
  ] as const) {
    const prototype = type.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = prototype[method];
    if (original === undefined) throw new Error(`${type.name} has no ${method} any more`);
    prototype[method] = function switched(...args) {
      return state.on ? original.apply(this, args) : undefined;
    };
  }
  return state;
}
