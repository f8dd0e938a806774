import type { Context, Middleware } from 'koa';
import { TimeBudget } from '../async/time-budget.ts';
import { RequestError, Unavailable } from '../errors/request-error.ts';
import { acceptEvent, type EventGroup } from '../event/event.ts';
import type { RepeatKey } from '../event/repeat-key.ts';
import type { EventRequest, FieldLimits } from '../event/schema.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { readCutText } from './cut-body.ts';
import { eventsOf, signalOf, type Signal } from './ping-signal.ts';
import type { BulkOptions } from './register-bulk.ts';

/** Bytes of a body that are kept. */
const bodyLimit = 100_000;

/** The run that the last `start` without a `rid` opened, by automation. */
export interface Runs {
  /** Resolves with the run given, or with an earlier one whose START is not confirmed. */
  open(organization: string, automation: string, run: string): Promise<string>;
  /** Notes that the START of the run is on disk. */
  confirm(organization: string, automation: string, run: string): Promise<void>;
  find(organization: string, automation: string): Promise<{ run: string; confirmed: boolean } | undefined>;
  /** Closes the run, unless a later one is open. */
  close(organization: string, automation: string, run: string): Promise<void>;
}

export interface PingRunOptions extends BulkOptions {
  runs: Runs;
  textLimits: Pick<FieldLimits, 'description' | 'errorDescription'>;
  /** Time for all steps of a ping, in ms. */
  answerWithinMs: number;
}

/**
 * `/ping/<ping key>/<automation_id>[/start|/fail|/log|/<exit code>]`: records a run from the pings
 * of Healthchecks' clients (ARCHITECTURE.md, "Pings"). All events of a ping come into one commit.
 */
export function pingRun(options: PingRunOptions): Middleware<AuthenticatedState> {
  const { runs, enqueueAll, identify, textLimits, bodies } = options;
  return async (ctx) => {
    const { organization } = ctx.state;
    const { automation = '', signal: word } = paramsOf(ctx);
    const signal = signalOf(word);
    const rid = ridOf(ctx);
    requireValid({ automation_id: automation, execution_id: rid ?? 'none', event: 'START' }, options);
    const text = await readCutText(ctx, bodyLimit, bodies);
    const time = new TimeBudget(options.answerWithinMs);
    const run = rid === undefined ? await runOf(signal) : { id: rid, alone: false };
    const results = await enqueueAll(eventsOf(signal, text, textLimits, run.alone).map(keyed), 'all', time.leftMs);
    const refused = results.find((result) => result instanceof RequestError);
    if (refused !== undefined) throw refused;
    if (rid === undefined) await remember(signal);
    answerOk(ctx);

    async function runOf({ kind }: Signal): Promise<Run> {
      const { id } = identify();
      if (kind === 'start') {
        return { id: await time.within(runs.open(organization, automation, id)).catch(notNow), alone: false };
      }
      const open = await time.within(runs.find(organization, automation)).catch(notNow);
      if (open === undefined && kind === 'log') throw noRun();
      return { id: open?.run ?? id, alone: open?.confirmed !== true };
    }

    function keyed(part: Omit<EventRequest, 'automation_id' | 'execution_id'>): EventGroup {
      const request = { automation_id: automation, execution_id: run.id, ...part };
      const key = part.event === 'EVENT' ? undefined : keyOf(request);
      return { events: [acceptEvent(request, organization, identify())], key };
    }

    /** The events are on disk: the ping has succeeded, even if Redis fails or is slow now. */
    async function remember({ kind }: Signal): Promise<void> {
      if (kind === 'log') return;
      const noted = kind === 'start' ? runs.confirm(organization, automation, run.id) : closed();
      await time.within(noted).catch(() => undefined);
    }

    function closed(): Promise<void> {
      return runs.close(organization, automation, run.id);
    }
  };
}

/** `alone`: no START of this run is known. */
interface Run {
  id: string;
  alone: boolean;
}

/** The path `/ping/` alone has no parameters. */
function paramsOf(ctx: Context): Record<string, string | undefined> {
  return (ctx['params'] ?? {}) as Record<string, string | undefined>;
}

/** The ping key of a request; empty if its path has none. */
export function pingKeyOf(ctx: Context): string {
  return paramsOf(ctx)['key'] ?? '';
}

/** Healthchecks' clients read the status only; people read the text. */
function answerOk(ctx: Context): void {
  ctx.status = 200;
  ctx.type = 'text/plain';
  ctx.body = 'OK';
}

function ridOf({ query: { rid } }: Context): string | undefined {
  if (!Array.isArray(rid)) return rid;
  throw invalid([{ parameter: 'rid', detail: 'must be given once' }]);
}

/**
 * The same ping of the same run gives the same key. Each event has one of its own: two pings may
 * share the START or the END of their run, and both count it once.
 */
function keyOf({ automation_id, execution_id, event, description, error_id }: EventRequest): RepeatKey {
  return ['ping', automation_id.toLowerCase(), execution_id, event, description ?? '', error_id ?? ''];
}

const parameters: Record<string, string> = { '/automation_id': 'automation_id', '/execution_id': 'rid' };

function requireValid(request: EventRequest, { validate }: PingRunOptions): void {
  try {
    validate(request);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const named = error.faults.map((fault) => {
      const parameter = 'pointer' in fault ? parameters[fault.pointer] : undefined;
      return parameter === undefined ? fault : { parameter, detail: fault.detail };
    });
    throw invalid(named);
  }
}

function invalid(faults: RequestError['faults']): RequestError {
  return new RequestError('malformed-request', 'The address of the ping is not valid; see errors.', faults);
}

function noRun(): RequestError {
  return new RequestError('malformed-request', 'No run is open: send start first, or a rid.');
}

function notNow(error: unknown): never {
  throw new Unavailable('Events cannot be stored safely at the moment.', 'open-runs', 1, error);
}
