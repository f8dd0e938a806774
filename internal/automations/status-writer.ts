import { ApiError } from '../kubernetes/api-error.ts';
import { sendRequest } from '../kubernetes/api-request.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import type { Database } from '../store/database.ts';
import type { AutomationMetrics } from '../telemetry/automation-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Acceptance } from './declare.ts';
import { identityOf, notEvaluated, readHealth, readLastExecutions, type Health } from './health.ts';
import { apiVersion, type LastExecution, type ResourceManifest, type ResourceStatus } from './manifest.ts';
import { isSame, isTransition, statusOf } from './status.ts';

export interface StatusWriterOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: AutomationMetrics;
  /** Longest age of a status whose conditions do not change, in ms. */
  readonly statusMs: number;
}

/** Most writes under way at once. */
const writers = 8;

/** Longest duration of one write, in ms. */
const writeMs = 10_000;

/**
 * Writes the status of resources: at once after a transition of a condition, otherwise at most once
 * in `statusMs`. It reads verdicts and executions from Postgres.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  /** When each resource was compared with its last execution, by uid. */
  #compared = new Map<string, number>();
  /** What was written to each resource, and to which version of it, by uid. */
  #written = new Map<string, { resourceVersion: string | undefined; status: ResourceStatus }>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Never rejects: the next call repeats failed writes. */
  async write(acceptances: readonly Acceptance[], access: ClusterAccess, end: AbortSignal): Promise<void> {
    const { db, logger } = this.#options;
    try {
      const health = await readHealth(db);
      const due = acceptances.filter((acceptance) => this.#isDue(acceptance, health));
      const last = await readLastExecutions(
        db,
        due.flatMap(({ automation }) => automation ?? []),
      );
      const queue = due.values();
      await Promise.all(Array.from({ length: writers }, () => this.#writeAll(queue, { health, last, access, end })));
      const uids = new Set(acceptances.map(uidOf));
      this.#compared = new Map([...this.#compared].filter(([uid]) => uids.has(uid)));
      this.#written = new Map([...this.#written].filter(([uid]) => uids.has(uid)));
    } catch (error) {
      if (!end.aborted) logger.warn({ error }, 'could not write the status of resources, retrying after the next tick');
    }
  }

  #isDue(acceptance: Acceptance, health: ReadonlyMap<string, Health>): boolean {
    const { manifest } = acceptance;
    if (
      isTransition(this.#statusOf(manifest), statusOf(acceptance, healthOf(acceptance, health), undefined, new Date()))
    ) {
      return true;
    }
    const { statusMs } = this.#options;
    const writtenAgo = Date.now() - Date.parse(manifest.statusAt ?? '1970-01-01');
    const comparedAgo = performance.now() - (this.#compared.get(uidOf(acceptance)) ?? -Infinity);
    return writtenAgo >= statusMs && comparedAgo >= statusMs;
  }

  /** The status in the API server. The watch tells a write of our own a moment later. */
  #statusOf({ metadata, status }: ResourceManifest): ResourceStatus | undefined {
    const written = this.#written.get(metadata?.uid ?? '');
    return written !== undefined && written.resourceVersion === metadata?.resourceVersion ? written.status : status;
  }

  async #writeAll(queue: Iterator<Acceptance>, context: WriteContext): Promise<void> {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      if (context.end.aborted) return;
      await this.#writeOne(next.value, context);
    }
  }

  async #writeOne(acceptance: Acceptance, { health, last, access, end }: WriteContext): Promise<void> {
    const { metrics, logger } = this.#options;
    const { kind, manifest, automation } = acceptance;
    const execution = automation && last.get(identityOf(automation));
    const status = statusOf(acceptance, healthOf(acceptance, health), execution, new Date());
    this.#compared.set(uidOf(acceptance), performance.now());
    if (isSame(this.#statusOf(manifest), status)) return;
    try {
      await patchStatus(access, acceptance, status, AbortSignal.any([end, AbortSignal.timeout(writeMs)]));
      this.#written.set(uidOf(acceptance), { resourceVersion: manifest.metadata?.resourceVersion, status });
      metrics.statusWrites.inc({ result: 'written' });
    } catch (error) {
      // It was deleted meanwhile.
      if (end.aborted || (error instanceof ApiError && error.status === 404)) return;
      metrics.statusWrites.inc({ result: 'failed' });
      const { namespace, name } = manifest.metadata ?? {};
      logger.warn({ error, kind, namespace, name }, 'could not write the status of a resource');
    }
  }
}

interface WriteContext {
  readonly health: ReadonlyMap<string, Health>;
  readonly last: ReadonlyMap<string, LastExecution>;
  readonly access: ClusterAccess;
  readonly end: AbortSignal;
}

async function patchStatus(
  access: ClusterAccess,
  { kind, manifest }: Acceptance,
  status: ResourceStatus,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '' } = manifest.metadata ?? {};
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}/status`;
  // A merge patch keeps a field that it does not name.
  const body = { status: { ...status, lastExecution: status.lastExecution ?? null } };
  await sendRequest(access, { action: `patch ${kind} status`, path, body, patch: true, signal });
}

function healthOf({ automation }: Acceptance, health: ReadonlyMap<string, Health>): Health {
  return (automation && health.get(identityOf(automation))) ?? notEvaluated;
}

function uidOf({ manifest }: Acceptance): string {
  return manifest.metadata?.uid ?? '';
}
