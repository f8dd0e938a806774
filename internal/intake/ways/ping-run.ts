import type { Middleware } from 'koa';
import { RequestError, Unavailable } from '../../kit/errors/request-error.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import { acceptEvent, type EventGroup } from '../../event/event.ts';
import type { EventRequest } from '../../event/schema.ts';
import { keyInAddress, type AuthenticatedState } from '../http/authenticate.ts';
import { readCutText } from '../http/cut-body.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { requireRecorded } from './intake.ts';
import { invalidAddress, pingAddressOf, type PingAddress } from './ping-address.ts';
import { bodyLimitOf, eventsOf } from './ping-signal.ts';
import { pingedRun, type Runs } from './pinged-run.ts';
import type { BulkOptions } from './register-bulk.ts';

/** Bytes to keep from the end of a body. */
const bodyLimit = 100_000;

export interface PingRunOptions extends BulkOptions {
  runs: Runs;
  /** Throws while no event is admitted, so that nothing is kept of a ping then. */
  requireAdmission: () => void;
  /** Time for all steps of a ping, in ms; no reply of Redis takes longer. */
  answerWithinMs: number;
}

/**
 * `/ping/<ping key>/<automation_id or slug>[/start|/fail|/log|/<exit code>]`: records a run from
 * the pings of Healthchecks' clients (docs/design/ways-in.md). All events of a ping go into one
 * commit.
 */
export function pingRun(sendText: HttpStack['sendText'], options: PingRunOptions): Middleware<AuthenticatedState> {
  const { runs, identify, bodies } = options;
  return async (ctx) => {
    const { organization } = ctx.state;
    const address = pingAddressOf(ctx);
    requireValid(address, options);
    const body = await readCutText(ctx, bodyLimit, bodies);
    const until = performance.now() + options.answerWithinMs;
    options.requireAdmission();
    const place = { ...address, organization, text: body.text, identify };
    const run = await pingedRun(runs, place).catch(notNow);
    const ids = { automation_id: address.automation, execution_id: run.id };
    const groups = eventsOf(address.signal, body, ids, run.alone).map((request): EventGroup => {
      const key = address.rid === undefined || request.event === 'EVENT' ? undefined : keyOf(request);
      const event = acceptEvent(request, organization, run.identityOf(request.event) ?? identify());
      return { events: [event], key, name: address.name };
    });
    try {
      requireRecorded(await options.enqueueAll(groups, 'all', until - performance.now()));
    } catch (error) {
      // The events may not be on disk. Without this, the next ping gets the run a little later.
      run.failed();
      throw error;
    }
    run.recorded();
    // Healthchecks' clients read only the status; people read the text.
    sendText(ctx, 'OK', { ...keyInAddress, 'Ping-Body-Limit': String(bodyLimitOf(address.signal)) });
  };
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
