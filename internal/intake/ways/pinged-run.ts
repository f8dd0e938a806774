import { RequestError } from '../../kit/errors/request-error.ts';
import type { EventIdentity } from '../../event/event.ts';
import { laterIdentity, timeOfId } from '../../event/identity.ts';
import type { EventKind } from '../../event/schema.ts';
import type { PingAddress } from './ping-address.ts';

/** How long a failed START keeps its identity, in ms. */
const startMs = 24 * 60 * 60 * 1_000;

/** The runs of pings: `PingRuns` of `internal/queue`. */
export interface Runs {
  nameOf(organization: string, automation: string): string;
  open(automation: string, fresh: string, text: string): Promise<{ run: string; same: boolean }>;
  confirm(automation: string, run: string): void;
  find(automation: string): Promise<{ run: string; started: boolean } | undefined>;
  take(
    automation: string,
    end: string,
    text: string,
  ): Promise<{ run: string; started: boolean; end: string } | undefined>;
  release(automation: string, run: string): void;
  close(automation: string, run: string): void;
  named(automation: string, rid: string, of: { kind: 'start' | 'log' | 'finish'; fresh: string }): Promise<string>;
  ended(automation: string, rid: string): void;
}

/** The run that a ping belongs to. */
export interface PingedRun {
  readonly id: string;
  /** True if no START of the run is known. */
  readonly alone: boolean;
  /** The identity of an event of the ping, if an earlier attempt may have recorded it. */
  identityOf(event: EventKind): EventIdentity | undefined;
  /** Records that the events of the ping are on disk. */
  recorded(): void;
  /** Records that they may not be, so that the next ping can take the run. */
  failed(): void;
}

/** The address and the body of a ping, and the source of identities. */
export interface PingPlace extends PingAddress {
  readonly organization: string;
  readonly text: string;
  readonly identify: () => EventIdentity;
}

/** Resolves with the run of a ping. @throws {RequestError} for a `log` without a run. */
export function pingedRun(runs: Runs, place: PingPlace): Promise<PingedRun> {
  const automation = runs.nameOf(place.organization, place.automation);
  if (place.rid !== undefined) return runWithRid(runs, automation, place, place.rid);
  if (place.signal.kind === 'start') return startedRun(runs, automation, place);
  return place.signal.kind === 'log' ? runOfLog(runs, automation) : endedRun(runs, automation, place);
}

async function runWithRid(
  runs: Runs,
  automation: string,
  { signal: { kind }, identify }: PingPlace,
  rid: string,
): Promise<PingedRun> {
  const isEnd = kind === 'success' || kind === 'fail';
  const fresh = identify().id;
  const id = await runs.named(automation, rid, { kind: isEnd ? 'finish' : kind, fresh });
  const recorded = isEnd ? () => runs.ended(automation, rid) : nothing;
  return { id, alone: false, identityOf: () => undefined, recorded, failed: nothing };
}

async function startedRun(runs: Runs, automation: string, { text, identify }: PingPlace): Promise<PingedRun> {
  const { run: id, same } = await runs.open(automation, identify().id, text);
  return {
    id,
    alone: false,
    identityOf: () => (same ? startOf(id) : undefined),
    recorded: () => runs.confirm(automation, id),
    failed: () => runs.release(automation, id),
  };
}

async function runOfLog(runs: Runs, automation: string): Promise<PingedRun> {
  const open = await runs.find(automation);
  if (open === undefined) throw new RequestError('malformed-request', 'No run is open: send start first, or a rid.');
  const identityOf = (event: EventKind) => (event === 'START' ? startOf(open.run) : undefined);
  return { id: open.run, alone: !open.started, identityOf, recorded: nothing, failed: nothing };
}

/** Without an open run, or if another ping is ending it, the ping becomes a separate run. */
async function endedRun(runs: Runs, automation: string, { signal, text, identify }: PingPlace): Promise<PingedRun> {
  const [fresh, end] = [identify(), identify()];
  // The END's identity follows the ERROR's.
  identify();
  const open = await runs.take(automation, end.id, `${signal.kind} ${signal.errorId} ${text}`);
  const first = open?.end ?? end.id;
  const id = open?.run ?? fresh.id;
  return {
    id,
    alone: open?.started !== true,
    identityOf: (event) =>
      event === 'START' ? startOf(id) : laterIdentity(identityIn(first), event === 'END' ? 1 : 0),
    recorded: open === undefined ? nothing : () => runs.close(automation, id),
    failed: open === undefined ? nothing : () => runs.release(automation, id),
  };
}

/** A run without a `rid` has the id of its START. Nobody repeats one older than a day. */
function startOf(run: string): EventIdentity | undefined {
  const identity = identityIn(run);
  return Date.now() - identity.createdAt < startMs ? identity : undefined;
}

function identityIn(id: string): EventIdentity {
  return { id, createdAt: timeOfId(id) };
}

function nothing(): void {
  // The ping changes no run.
}
