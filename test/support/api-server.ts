import { createApi, type ApiOptions } from '../../internal/intake/app.ts';
import { defaultServerLimits, type ServerLimits } from '../../internal/intake/http/server-limits.ts';
import { ApiServer } from '../../internal/intake/http/server.ts';
import { createIdentitySource } from '../../internal/event/identity.ts';
import { createEventValidator } from '../../internal/event/validate.ts';
import { apiMetrics } from '../../internal/intake/http/api-metrics.ts';
import { Registry } from '../../internal/kit/telemetry/metrics.ts';
import { recordingLogger, type LogRecord } from './recording-logger.ts';

export interface RunningApi extends AsyncDisposable {
  server: ApiServer;
  port: number;
  /** Headers of a caller behind a proxy that ends TLS. */
  headers: Record<string, string>;
  records: LogRecord[];
}

const notHere = (): Promise<never> => Promise.reject(new Error('no Redis here'));
const noOpenRuns = { open: notHere, confirm: notHere, find: notHere, take: notHere, release: notHere, close: notHere };

/**
 * The API alone, with an `enqueue` that a test holds in its hand, for faults that Redis cannot show
 * on command. The token `hostile` is of the organization with that name, every other one of acme.
 */
export async function startApi(
  enqueue: ApiOptions['enqueue'],
  limits: Partial<ServerLimits> = {},
  fastPath = true,
): Promise<RunningApi> {
  const { logger, records } = recordingLogger();
  const handler = createApi({
    validate: createEventValidator(),
    identify: createIdentitySource(),
    enqueue,
    enqueueAll: (groups) =>
      Promise.all(groups.map(({ events, key }) => Promise.all(events.map((event) => enqueue(event, key))))),
    runs: { ...noOpenRuns, nameOf: () => '', named: notHere, ended: () => undefined },
    named: () => undefined,
    requireAdmission: () => undefined,
    answerWithinMs: 1_000,
    authenticate: (given) => ({
      status: 'known',
      organization: given === 'hostile' ? given : 'acme',
      scope: 'write',
      tokenId: '0123456789ab',
    }),
    publicUrl: new URL('https://runledger.example'),
    trustProxy: true,
    bodyLimit: 262_144,
    organizationLimits: { rate: 0, onLimited: () => undefined },
    fastPath,
    metrics: apiMetrics(new Registry()),
    logger,
  });
  const server = new ApiServer({ port: 0, handler, fastPath, logger, limits: { ...defaultServerLimits, ...limits } });
  await server.start();
  const headers = { token: 'x', 'x-forwarded-proto': 'https' };
  return { server, port: server.port, headers, records, [Symbol.asyncDispose]: () => server.stop() };
}
