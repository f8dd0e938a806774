import { RequestError } from '../../kit/errors/request-error.ts';
import type { PingAddress } from './ping-address.ts';
import type { Signal } from './ping-signal.ts';

/** The runs that the last `start` without a `rid` opened: `OpenRuns` of `internal/queue`. */
export interface Runs {
  open(organization: string, automation: string, run: string): Promise<string>;
  confirm(organization: string, automation: string, run: string): Promise<void>;
  find(organization: string, automation: string): Promise<{ run: string; started: boolean } | undefined>;
  take(organization: string, automation: string): Promise<{ run: string; started: boolean } | undefined>;
  release(organization: string, automation: string, run: string): Promise<void>;
  close(organization: string, automation: string, run: string): Promise<void>;
}

/** The runs of pings with a `rid`: `NamedRuns` of `internal/queue`. */
export interface RidRuns {
  runOf(
    organization: string,
    automation: string,
    name: string,
    of: { kind: 'start' | 'log' | 'end'; fresh: string },
  ): Promise<string>;
  end(organization: string, automation: string, name: string): Promise<void>;
}

/** The run that a ping belongs to. */
export interface PingedRun {
  readonly id: string;
  /** No START of the run is known. */
  readonly alone: boolean;
  /** Notes that the events of the ping are on disk. */
  recorded(): Promise<void>;
  /** Notes that they may not be: the next ping may have the run. */
  failed(): Promise<void>;
}

/** The address of a ping, and the execution to open with it. */
export interface PingPlace extends PingAddress {
  readonly organization: string;
  readonly fresh: string;
}

/** Resolves with the run of a ping. @throws {RequestError} for a `log` without a run. */
export function pingedRun(runs: Runs, ridRuns: RidRuns, place: PingPlace): Promise<PingedRun> {
  if (place.rid !== undefined) return runWithRid(ridRuns, place, place.rid);
  if (place.signal.kind === 'start') return startedRun(runs, place);
  return place.signal.kind === 'log' ? runOfLog(runs, place) : endedRun(runs, place);
}

async function runWithRid(
  runs: RidRuns,
  { organization, automation, signal, fresh }: PingPlace,
  rid: string,
): Promise<PingedRun> {
  const kind = kindOf(signal);
  const id = await runs.runOf(organization, automation, rid, { kind, fresh });
  const recorded = kind === 'end' ? () => runs.end(organization, automation, rid) : nothing;
  return { id, alone: false, recorded, failed: nothing };
}

function kindOf({ kind }: Signal): 'start' | 'log' | 'end' {
  return kind === 'success' || kind === 'fail' ? 'end' : kind;
}

async function startedRun(runs: Runs, { organization, automation, fresh }: PingPlace): Promise<PingedRun> {
  const id = await runs.open(organization, automation, fresh);
  return {
    id,
    alone: false,
    recorded: () => runs.confirm(organization, automation, id),
    failed: () => runs.release(organization, automation, id),
  };
}

async function runOfLog(runs: Runs, { organization, automation }: PingPlace): Promise<PingedRun> {
  const open = await runs.find(organization, automation);
  if (open === undefined) throw new RequestError('malformed-request', 'No run is open: send start first, or a rid.');
  return { id: open.run, alone: !open.started, recorded: nothing, failed: nothing };
}

/** Without an open run, or if another ping ends it just now, the ping is a run of its own. */
async function endedRun(runs: Runs, { organization, automation, fresh }: PingPlace): Promise<PingedRun> {
  const open = await runs.take(organization, automation);
  if (open === undefined) return { id: fresh, alone: true, recorded: nothing, failed: nothing };
  return {
    id: open.run,
    alone: !open.started,
    recorded: () => runs.close(organization, automation, open.run),
    failed: () => runs.release(organization, automation, open.run),
  };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}
