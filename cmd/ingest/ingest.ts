import { createApi } from '../../internal/intake/app.ts';
import type { Handler } from '../../internal/intake/http/http-stack.ts';
import type { OrganizationLimits } from '../../internal/intake/http/organization-limiter.ts';
import type { ApiServer } from '../../internal/intake/http/server.ts';
import type { Config } from '../../internal/config/read.ts';
import { rejectionReasons, Unavailable } from '../../internal/kit/errors/request-error.ts';
import { createIdentitySource } from '../../internal/event/identity.ts';
import { createEventValidator } from '../../internal/event/validate.ts';
import { component, ComponentGroup, inParallel } from '../../internal/kit/lifecycle/group.ts';
import { AdmissionJournal } from '../../internal/queue/admission/admission-journal.ts';
import { readLaneStats } from '../../internal/queue/queue-stats.ts';
import type { Callers } from '../../internal/queue/group-commit.ts';
import { Overflow } from '../../internal/queue/admission/overflow.ts';
import { TokenUses } from '../../internal/queue/keys/token-uses.ts';
import { AutomationNames } from '../../internal/queue/keys/automation-names.ts';
import { PingRuns } from '../../internal/queue/keys/ping-runs.ts';
import { Producer } from '../../internal/queue/producer.ts';
import { answerWithinMs, type Shards } from '../../internal/queue/shards/shards.ts';
import { apiMetrics, type ApiMetrics } from '../../internal/intake/http/api-metrics.ts';
import { limitMetrics } from '../../internal/intake/http/api-metrics.ts';
import type { Registry } from '../../internal/kit/telemetry/metrics.ts';
import { producerMetrics } from '../../internal/queue/producer-metrics.ts';
import { queueStatsMetrics } from '../../internal/queue/queue-metrics.ts';
import { rejectionMetrics } from '../../internal/intake/http/api-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { TokenSource } from '../../internal/cluster/tokens/token-source.ts';
import { backlogLimits, backledgerSettings, producerLimits, producerSettings } from '../../internal/wiring/limits.ts';
import { keySettings, redisSettings } from '../../internal/wiring/redis.ts';
import { createServers, serverSettings } from '../../internal/wiring/servers.ts';
import { createShards } from '../../internal/wiring/shards.ts';

/** The settings of ingest, besides those of every process. */
export const ingestSettings = [
  ...serverSettings,
  'PUBLIC_URL',
  ...redisSettings,
  'QUEUE_NAME',
  ...backledgerSettings,
  'FAST_PATH',
  'BODY_LIMIT_BYTES',
  ...keySettings,
  'ORGANIZATION_RATE',
  'OVERFLOW_RATE',
  'OVERFLOW_SHARE',
  'LEDGER_DIGESTS',
  ...producerSettings,
] as const;

export type IngestConfig = Config<(typeof ingestSettings)[number]>;

/** Ingest as a component, and its servers: HTTP first, then HTTPS if it is on. */
export interface Ingest {
  component: ComponentGroup;
  servers: ApiServer[];
}

/** Wires ingest: requests → Redis. Never talks to Postgres. `requests` counts the requests. */
export function createIngest(
  config: IngestConfig,
  tokens: TokenSource,
  telemetry: Telemetry,
  requests: ApiMetrics = apiMetrics(telemetry.registry),
): Ingest {
  const { logger, registry, probes } = telemetry;
  const limits = { ...backlogLimits(config), overflowShare: config.OVERFLOW_SHARE };
  const { shards, queues, parts: queue } = createShards(config, limits, telemetry, registry);
  const [first] = queues;
  queueStatsMetrics(registry, () => readLaneStats(queues));
  const connections = { open: 0, opened: 0 };
  const journal = new AdmissionJournal(queues, () => shards.rejection === undefined);
  const onLimited = limitMetrics(registry, telemetry.organization);
  const overflow = createOverflow(config, shards, onLimited);
  const runs = new PingRuns(first.redis, first.queueName, connections, () => shards.keysFull);
  const producer = createProducer(config, { shards, overflow, callers: connections }, telemetry);
  // After the first admission the pod stays ready and answers 503 itself
  // (docs/decisions/README.md).
  probes.ready.set('redis', () => (shards.admittedOnce ? undefined : shards.rejection?.detail));
  probes.degraded.set('redis', () => shards.rejection?.detail);
  probes.ready.set('tokens', () => tokens.unready());
  const handler = createHandler(
    config,
    {
      producer,
      runs,
      names: new AutomationNames(first.redis, first.queueName),
      uses: new TokenUses(first.redis, first.queueName),
      onNotServed: noteIn(journal, registry),
    },
    { rate: config.ORGANIZATION_RATE, onLimited, overflow },
    tokens,
    telemetry,
    requests,
  );
  const servers = createServers(config, { handler, fastPath: config.FAST_PATH, logger, connections });
  const ended = component('ping runs', { stop: () => runs.drained() });
  const parts = [...queue, journal, producer, ended, tokens, inParallel('servers', servers)];
  return { component: new ComponentGroup('ingest', parts, logger), servers };
}

function createOverflow(
  { OVERFLOW_RATE: rate }: IngestConfig,
  shards: Shards,
  onLimited: (organization: string) => void,
): Overflow | undefined {
  return rate === 0 ? undefined : new Overflow({ rate, isFull: () => shards.overflowFull, onLimited });
}

interface ProducerParts {
  shards: Shards;
  overflow: Overflow | undefined;
  callers: Callers;
}

function createProducer(
  config: IngestConfig,
  { shards, overflow, callers }: ProducerParts,
  { logger, registry, organization, tracing }: Telemetry,
): Producer {
  // A scrape calls this after the producer exists.
  const metrics = producerMetrics(registry, () => producer.load, organization);
  const idempotencyHours = config.IDEMPOTENCY_HOURS;
  const producer = new Producer({
    shards,
    replicaAcks: config.REDIS_ACKS,
    idempotencyHours,
    limits: producerLimits(config),
    callers,
    seals: config.LEDGER_DIGESTS,
    overflow,
    metrics,
    logger,
    tracing,
  });
  return producer;
}

/**
 * Counts each 503, and notes each request that was not served. A request that waits for another
 * attempt is noted only at its own end; otherwise one organization could make gaps for all.
 */
function noteIn(journal: AdmissionJournal, registry: Registry): (error: unknown) => void {
  const reject = rejectionMetrics(registry, rejectionReasons);
  return (error) => {
    if (error instanceof Unavailable) reject(error.reason, error.events);
    if (!(error instanceof Unavailable && error.reason === 'under-way')) journal.rejected();
  };
}

interface HandlerParts {
  producer: Producer;
  runs: PingRuns;
  names: AutomationNames;
  uses: TokenUses;
  onNotServed: (error: unknown) => void;
}

function createHandler(
  config: IngestConfig,
  { producer, runs, names, uses, onNotServed }: HandlerParts,
  organizationLimits: OrganizationLimits,
  tokens: TokenSource,
  { logger, tracing }: Telemetry,
  requests: ApiMetrics,
): Handler {
  return createApi({
    validate: createEventValidator(),
    identify: createIdentitySource(),
    enqueue: (event, key) => producer.enqueue(event, key),
    enqueueAll: (events, which, withinMs) => producer.enqueueAll(events, which, withinMs),
    requireAdmission: () => producer.requireAdmission(1),
    othersSend: (organization) => producer.othersSend(organization),
    runs,
    named: (organization, automation, name) => names.note(organization, automation, name),
    answerWithinMs,
    authenticate: (token) => {
      const known = tokens.authenticate(token);
      if (known.status === 'known') uses.note(known.tokenId);
      return known;
    },
    onNotServed,
    publicUrl: config.PUBLIC_URL,
    trustProxy: config.TRUST_PROXY,
    bodyLimit: config.BODY_LIMIT_BYTES,
    organizationLimits,
    fastPath: config.FAST_PATH,
    metrics: requests,
    logger,
    tracing,
  });
}
