import { Router } from '@koa/router';
import { RequestError } from '../kit/errors/request-error.ts';
import {
  requirePingKey,
  requireToken,
  tokenScopes,
  type Authenticate,
  type AuthenticatedState,
} from './http/authenticate.ts';
import { Bodies, type BodiesOptions } from './bodies/bodies.ts';
import { closeRun } from './ways/close.ts';
import { cloudEvents, cloudEventTypes } from './ways/cloud-events.ts';
import { fastPath } from './fast-path/fast-path.ts';
import type { Handler } from './http/http-stack.ts';
import { JsonBody, listTypes } from './bodies/json-body.ts';
import { lineage, lineageBatch, lineageBatchShape, lineageBodyLimit } from './ways/lineage.ts';
import { lineageShape } from './ways/lineage-event.ts';
import { OrganizationLimiter, type OrganizationLimits } from './http/organization-limiter.ts';
import { pingKeyOf } from './ways/ping-address.ts';
import { pingRun, type PingRunOptions } from './ways/ping-run.ts';
import { ping } from './ways/ping.ts';
import { plainKoa } from './http/plain-koa.ts';
import { createProjectedReader } from './bodies/projected-body.ts';
import { bulkBodyLimit, registerBulk } from './ways/register-bulk.ts';
import { createRefusalLimiter } from './http/refusal-limiter.ts';
import { register, type RegisterOptions } from './ways/register.ts';
import { serveRouter, type ServeOptions } from './http/serve-router.ts';
import { webhookHandshake } from './ways/webhook-handshake.ts';
import { createWrongTokenLimiter } from './http/wrong-token-limiter.ts';

export interface ApiOptions extends RegisterOptions, Omit<PingRunOptions, 'bodies'>, ServeOptions {
  authenticate: Authenticate;
  /** Largest body, in bytes. */
  bodyLimit: number;
  organizationLimits: OrganizationLimits;
  /** As in {@link BodiesOptions}. */
  othersSend?: BodiesOptions['othersSend'];
  /** Called with a message's name for its automation, once its events are recorded. */
  named: (organization: string, automation: string, name: string) => void;
}

/** Creates the API of ingest. Its routes check in this order: 401, 403, 429, 415/413, 400. */
export function createApi(options: ApiOptions): Handler {
  const limiter = new OrganizationLimiter(options.organizationLimits);
  const charge = (organization: string, events: number): void => limiter.charge(organization, events);
  const bodies = new Bodies({ charge, othersSend: options.othersSend });
  const limitRefusals = createRefusalLimiter();
  const onRefused: ServeOptions['onRefused'] = async (ctx, error) => {
    await bodies.drop(ctx);
    await limitRefusals(ctx, error);
  };
  return serveRouter(
    createRouter({ ...charging(naming(options), limiter), bodies }, limiter),
    'POST /v1/register/, POST /v1/register/bulk/ or GET /v1/ping/',
    { ...options, onRefused },
  );
}

/** Charges enqueued events to their organizations' rates, except the first of a request. */
function charging(options: ApiOptions, limiter: OrganizationLimiter): ApiOptions {
  return {
    ...options,
    enqueueAll: (groups, which, withinMs) => {
      const events = groups.reduce((sum, group) => sum + group.events.length, 0);
      const first = groups.find((group) => group.events.length > 0)?.events[0];
      if (first !== undefined) limiter.charge(first.organization, events - 1);
      return options.enqueueAll(groups, which, withinMs);
    },
  };
}

/** Passes on the names of automations whose events are recorded. */
function naming(options: ApiOptions): ApiOptions {
  return {
    ...options,
    enqueueAll: async (groups, which, withinMs) => {
      const results = await options.enqueueAll(groups, which, withinMs);
      for (const [at, { name, events }] of groups.entries()) {
        const [event] = events;
        if (name === undefined || event === undefined || results[at] instanceof RequestError) continue;
        options.named(event.organization, event.automationId, name);
      }
      return results;
    },
  };
}

/**
 * Each route's name is its path. The router accepts a missing trailing slash only if the pattern
 * has none.
 */
function createRouter(options: ApiOptions & { bodies: Bodies }, limiter: OrganizationLimiter): Router {
  const stack = options.fastPath ? fastPath(options.publicUrl) : plainKoa;
  const { bodies } = options;
  const bodyOf = (limit: number, types: readonly string[] = ['application/json']): JsonBody =>
    new JsonBody({ limit, types, readBytes: stack.bodyReader(limit, types), bodies });
  const readLineage = createProjectedReader(lineageBodyLimit, lineageShape, bodies);
  const readLineageBatch = createProjectedReader(lineageBodyLimit, lineageBatchShape, bodies);
  const limitWrongTokens = createWrongTokenLimiter();
  const requireWriteToken = requireToken(options.authenticate, ['write'], limitWrongTokens);
  const writing: typeof requireWriteToken = (route) => requireWriteToken(limiter.before(route));
  const authenticated = requireToken(options.authenticate, tokenScopes, limitWrongTokens);
  const registering = writing(register(bodyOf(options.bodyLimit), stack.sendJson, options));
  const registeringBulk = writing(registerBulk(bodyOf(bulkBodyLimit, listTypes), stack.sendJson, options));
  const closing = writing(closeRun(bodyOf(options.bodyLimit), stack.sendJson, options));
  const takingCloudEvents = writing(cloudEvents(bodyOf(bulkBodyLimit, cloudEventTypes), stack.sendJson, options));
  const shakingHands = webhookHandshake(options.organizationLimits.rate, takingCloudEvents);
  const takingLineage = writing(lineage(readLineage, stack.sendJson, options));
  const takingLineageBatch = writing(lineageBatch(readLineageBatch, stack.sendJson, options));
  const requireKey = requirePingKey(options.authenticate, pingKeyOf, limitWrongTokens);
  const pinging = requireKey(limiter.before(pingRun(stack.sendText, options)));
  const router = new Router<AuthenticatedState>({ sensitive: true });
  router.register('/v1/register', ['POST'], registering, { name: '/v1/register/' });
  router.register('/v1/register/bulk', ['POST'], registeringBulk, { name: '/v1/register/bulk/' });
  router.register('/v1/close', ['POST'], closing, { name: '/v1/close/' });
  router.register('/v1/cloudevents', ['POST', 'OPTIONS'], shakingHands, { name: '/v1/cloudevents/' });
  // OpenLineage's clients post to these paths, without a trailing slash.
  router.register('/api/v1/lineage', ['POST'], takingLineage, { name: '/api/v1/lineage' });
  router.register('/api/v1/lineage/batch', ['POST'], takingLineageBatch, { name: '/api/v1/lineage/batch' });
  router.register('/v1/ping', ['GET', 'HEAD', 'POST'], authenticated(ping()), { name: '/v1/ping/' });
  // Metrics, logs and traces show the name of the route, which holds no key.
  router.register('/ping{/:key}{/:automation}{/:signal}', ['GET', 'HEAD', 'POST'], pinging, { name: '/ping/' });
  return router;
}
