import type { Context, Middleware } from 'koa';
import { TimeBudget } from '../../kit/async/time-budget.ts';
import { RequestError, Unavailable } from '../../kit/errors/request-error.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import type { EventRequest } from '../../event/schema.ts';
import type { AuthenticatedState } from '../http/authenticate.ts';
import { readCutText } from '../http/cut-body.ts';
import { Intake } from './intake.ts';
import { invalidAddress, pingAddressOf, type PingAddress } from './ping-address.ts';
import { bodyLimitOf, eventsOf } from './ping-signal.ts';
import { pingedRun, type Runs } from './pinged-run.ts';
import type { BulkOptions } from './register-bulk.ts';

/** Bytes to keep from the end of a body. */
const bodyLimit = 100_000;

export interface PingRunOptions extends BulkOptions {
  runs: Runs;
  /** Time for all steps of a ping, in ms. */
  answerWithinMs: number;
}

/**
 * `/ping/<ping key>/<automation_id or slug>[/start|/fail|/log|/<exit code>]`: records a run from
 * the pings of Healthchecks' clients (docs/design/ways-in.md). All events of a ping go into one
 * commit.
 */
export function pingRun(options: PingRunOptions): Middleware<AuthenticatedState> {
  const { runs, identify, bodies } = options;
  return async (ctx) => {
    const { organization } = ctx.state;
    const address = pingAddressOf(ctx);
    requireValid(address, options);
    const body = await readCutText(ctx, bodyLimit, bodies);
    const time = new TimeBudget(options.answerWithinMs);
    const place = { ...address, organization, text: body.text, identify };
    const run = await time.within(pingedRun(runs, place)).catch(notNow);
    const intake = new Intake(organization, options);
    const checked = eventsOf(address.signal, body, run.alone).map((part, index) => {
      const request = { automation_id: address.automation, execution_id: run.id, ...part };
      const key = address.rid === undefined || part.event === 'EVENT' ? undefined : keyOf(request);
      const identity = run.identityOf(part.event);
      return intake.check(index, () => ({ requests: [request], key, name: address.name, identity }));
    });
    try {
      await intake.recordAll(checked, time.leftMs);
    } catch (error) {
      // The events may not be on disk. Without this, the next ping gets the run a little later.
      run.failed();
      throw error;
    }
    run.recorded();
    ctx.set('Ping-Body-Limit', String(bodyLimitOf(address.signal)));
    answerOk(ctx);
  };
}

/** Healthchecks' clients read only the status; people read the text. */
function answerOk(ctx: Context): void {
  ctx.status = 200;
  ctx.type = 'text/plain';
  ctx.body = 'OK';
}

/**
 * The same ping with the same `rid` gives the same key. Each event has its own, because two pings
 * may share the END of their run, and it must count once.
 */
function keyOf({ automation_id, execution_id, event, description, error_id }: EventRequest): RepeatKey {
  return ['ping', automation_id.toLowerCase(), execution_id, event, description ?? '', error_id ?? ''];
}

const parameters: Record<string, string> = { '/automation_id': 'automation_id', '/execution_id': 'rid' };

function requireValid({ automation, rid = 'none' }: PingAddress, { validate }: PingRunOptions): void {
  try {
    validate({ automation_id: automation, execution_id: rid, event: 'START' });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw invalidAddress(
      error.faults.map((fault) => {
        const parameter = 'pointer' in fault ? parameters[fault.pointer] : undefined;
        return parameter === undefined ? fault : { parameter, detail: fault.detail };
      }),
    );
  }
}

function notNow(error: unknown): never {
  if (error instanceof RequestError) throw error;
  throw new Unavailable('Events cannot be stored safely at the moment.', 'open-runs', 1, error);
}
