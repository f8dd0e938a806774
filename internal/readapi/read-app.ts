import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import {
  mayStillRead,
  requireToken,
  tokenScopes,
  type Authenticate,
  type AuthenticatedState,
} from '../intake/http/authenticate.ts';
import type { Handler } from '../intake/http/http-stack.ts';
import { unlessPreview, type PageRoute } from '../intake/http/page-route.ts';
import { ping } from '../intake/ways/ping.ts';
import { exportEvents } from './export-events.ts';
import { executionEvents } from './execution-events.ts';
import { getAutomation } from './get-automation.ts';
import { getExecution } from './get-execution.ts';
import { limitTokens, type ReadLimits } from './limits.ts';
import { listAlerts } from './list-alerts.ts';
import { listAutomations } from './list-automations.ts';
import { listErrors } from './list-errors.ts';
import { listEvents } from './list-events.ts';
import { listExecutions } from './list-executions.ts';
import { logActs, logCheckpoint, logProof, logSignedCheckpoint, logTile } from './ledger.ts';
import { manageEndpoints } from './manage.ts';
import type { ManageOptions } from './manage-request.ts';
import { noteActs, noteReads, type NoteAccess } from './note-access.ts';
import type { ReadOptions } from './read-options.ts';
import type { RoomOptions } from './with-room.ts';
import { stream, type StreamOptions } from './stream.ts';
import { serveRouter, type ServeOptions } from '../intake/http/serve-router.ts';

export interface ReadApiOptions
  extends
    ReadOptions,
    Omit<StreamOptions, 'mayStillRead'>,
    Pick<RoomOptions, 'room'>,
    Omit<ServeOptions, 'fastPath'>,
    Omit<ManageOptions, 'note' | 'noteFirst'> {
  authenticate: Authenticate;
  limits: ReadLimits;
  /** How far the replica of an organization is behind, in ms; undefined for a primary. */
  replicaLagMs: (organization: string) => number | undefined;
  /** Web pages, besides the endpoints. */
  pages?: readonly PageRoute[];
  /** Delays the answers to many wrong tokens; the pages share it. */
  limitWrongTokens: () => Promise<void>;
  noteAccess: NoteAccess;
  /** As `noteAccess`, but resolves once it is recorded. */
  noteFirst: (...access: Parameters<NoteAccess>) => Promise<void>;
}

/** The read endpoints, one file each. */
const endpoints = [
  listAutomations,
  getAutomation,
  listExecutions,
  getExecution,
  executionEvents,
  listEvents,
  listErrors,
  listAlerts,
  exportEvents,
  stream,
  logCheckpoint,
  logSignedCheckpoint,
  logActs,
  logTile,
  logProof,
];

/** Creates the read API. Its routes check in this order: 401, 403, 429, 400, 404. */
export function createReadApi(options: ReadApiOptions): Handler {
  return serveRouter(createRouter(options), 'GET /v1/executions/ or GET /v1/ping/', { ...options, fastPath: false });
}

function createRouter(options: ReadApiOptions): Router {
  const { authenticate, replicaLagMs, limitWrongTokens, noteAccess, trustProxy } = options;
  const note = noteActs(noteAccess, trustProxy);
  const limited = limitTokens(options.limits, options);
  const router = new Router<AuthenticatedState>({ sensitive: true });
  const stillMay = {
    mayStillRead: (ctx: Parameters<StreamOptions['mayStillRead']>[0]) => mayStillRead(authenticate, ctx),
  };
  const made = [
    ...endpoints.map((endpoint) => endpoint({ ...options, ...stillMay })),
    ...manageEndpoints({ ...options, note, noteFirst: noteActs(options.noteFirst, trustProxy) }),
  ];
  for (const endpoint of made) {
    const { path, pattern = patternOf(path), method, scopes = ['read'] } = endpoint;
    const route = showLag(replicaLagMs, limited({ ...endpoint, answer: noteReads(note, endpoint) }));
    const authenticated = requireToken(authenticate, scopes, limitWrongTokens)(route);
    router.register(pattern, method === undefined ? ['GET', 'HEAD'] : [method], authenticated, { name: path });
  }
  const anybody = requireToken(authenticate, tokenScopes, limitWrongTokens);
  router.register('/v1/ping', ['GET', 'HEAD', 'POST'], anybody(ping()), { name: '/v1/ping/' });
  for (const { path, methods, answer } of options.pages ?? []) {
    const serve = methods.includes('GET') && !methods.includes('HEAD') ? unlessPreview(answer) : answer;
    router.register(path, [...methods], (ctx) => serve(ctx), { name: path });
  }
  return router;
}

/**
 * The router's pattern for a path. A path without its trailing slash matches only a pattern without
 * one.
 */
function patternOf(path: string): string {
  return path.replace(/\/$/, '').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Tells readers how old the answer of a replica may be. */
function showLag(replicaLagMs: ReadApiOptions['replicaLagMs'], answer: Middleware<AuthenticatedState>) {
  const shown: Middleware<AuthenticatedState> = (ctx, next) => {
    const lag = replicaLagMs(ctx.state.organization);
    if (lag !== undefined) ctx.set('Runledger-Replica-Lag-Ms', String(Math.ceil(lag)));
    return answer(ctx, next);
  };
  return shown;
}
