import { inTurns } from '../../kit/async/in-turns.ts';
import { ApiError } from '../../cluster/api-error.ts';
import { sendRequest } from '../../cluster/api-request.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import type { Database } from '../../store/database.ts';
import type { AutomationMetrics } from './automation-metrics.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { DeclaredAutomation } from './declarations.ts';
import type { Acceptance } from './declare.ts';
import { identityOf, notEvaluated, readHealth, readLastExecutions, type Health } from './health.ts';
import { apiVersion, type LastExecution, type ResourceManifest, type ResourceStatus } from './manifest.ts';
import { isSame, isTransition, statusOf } from './status.ts';

export interface StatusWriterOptions {
  readonly db: Database;
  /** With several databases: returns the database of an organization. */
  readonly databaseOf?: ((organization: string) => Database) | undefined;
  readonly logger: Logger;
  readonly metrics: AutomationMetrics;
  /** Maximum age of a status whose conditions do not change, in ms. */
  readonly statusMs: number;
}

/** Maximum number of concurrent writes. */
const writers = 4;

/** Number of resources whose verdicts and executions are in memory at once. */
const sliceSize = 500;

/** Maximum duration of one write, in ms. */
const writeMs = 10_000;

/**
 * Writes the status of resources from verdicts and executions in Postgres: immediately after a
 * transition of a condition, otherwise at most once per `statusMs`.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  /** When each resource was last compared with its last execution, in ms of the monotonic clock. */
  readonly #compared = new WeakMap<ResourceManifest, number>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Never rejects: the next call retries failed writes. */
  async write(acceptances: readonly Acceptance[], access: ClusterAccess, end: AbortSignal): Promise<void> {
    const { db, databaseOf } = this.#options;
    const parts = Map.groupBy(acceptances, ({ automation }) =>
      automation === undefined || databaseOf === undefined ? db : databaseOf(automation.organization),
    );
    for (const [database, part] of parts) await this.#writeOf(database, part, access, end);
  }

  /** Writes the status of one database's resources; namespaces take turns. */
  async #writeOf(
    db: Database,
    acceptances: readonly Acceptance[],
    access: ClusterAccess,
    end: AbortSignal,
  ): Promise<void> {
    try {
      const all = acceptances.map((acceptance) => ({
        organization: acceptance.manifest.metadata?.namespace,
        acceptance,
      }));
      for (const { items } of inTurns(all, sliceSize)) {
        const slice = items.map(({ acceptance }) => acceptance);
        await this.#writeSlice(db, slice, access, end);
      }
    } catch (error) {
      if (end.aborted) return;
      this.#options.logger.warn({ error }, 'could not write the status of resources, retrying after the next tick');
    }
  }

  async #writeSlice(
    db: Database,
    acceptances: readonly Acceptance[],
    access: ClusterAccess,
    end: AbortSignal,
  ): Promise<void> {
    end.throwIfAborted();
    const health = await readHealth(db, automationsOf(acceptances));
    const due = acceptances.filter((acceptance) => this.#isDue(acceptance, health));
    const last = await readLastExecutions(db, automationsOf(due));
    const queue = due.values();
    await Promise.all(Array.from({ length: writers }, () => this.#writeAll(queue, { health, last, access, end })));
  }

  #isDue(acceptance: Acceptance, health: ReadonlyMap<string, Health>): boolean {
    const { manifest } = acceptance;
    const status = statusOf(acceptance, healthOf(acceptance, health), undefined, new Date());
    if (isTransition(manifest.status, status)) return true;
    const { statusMs } = this.#options;
    const writtenAgo = Date.now() - Date.parse(manifest.statusAt ?? '1970-01-01');
    const comparedAgo = performance.now() - (this.#compared.get(manifest) ?? -Infinity);
    return writtenAgo >= statusMs && comparedAgo >= statusMs;
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
    this.#compared.set(manifest, performance.now());
    if (isSame(manifest.status, status)) return;
    const version = manifest.metadata?.resourceVersion;
    try {
      await patchStatus(access, acceptance, status, AbortSignal.any([end, AbortSignal.timeout(writeMs)]));
      // The watch reports the write a moment later; a change that it reported meanwhile is as new.
      if (manifest.metadata?.resourceVersion === version) manifest.status = status;
      metrics.statusWrites.inc({ result: 'written' });
    } catch (error) {
      // The resource was deleted meanwhile.
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
  // A merge patch keeps the fields that it does not name.
  const body = { status: { ...status, lastExecution: status.lastExecution ?? null } };
  await sendRequest(access, { action: `patch ${kind} status`, path, body, patch: 'merge', signal });
}

function healthOf({ automation }: Acceptance, health: ReadonlyMap<string, Health>): Health {
  return (automation && health.get(identityOf(automation))) ?? notEvaluated;
}

function automationsOf(acceptances: readonly Acceptance[]): DeclaredAutomation[] {
  return acceptances.flatMap(({ automation }) => automation ?? []);
}
