import type { Context, Middleware } from 'koa';
import { acceptEvent, recordedForm, type AcceptedEvent, type EventIdentity } from '../event/event.ts';
import { RequestError } from '../errors/request-error.ts';
import type { EventRequest } from '../event/schema.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { sendJson } from './handler.ts';
import { idempotencyKeyFaults, idempotencyKeyOf } from './idempotency-key.ts';
import type { ReadBody } from './json-body.ts';

/** Makes an event durable; resolves with it as it was first accepted. Rejects with a refusal when it cannot. */
export type Enqueue = (event: AcceptedEvent, idempotencyKey?: string) => Promise<AcceptedEvent>;

export interface RegisterOptions {
  validate: (body: unknown) => EventRequest;
  identify: () => EventIdentity;
  enqueue: Enqueue;
}

/** `POST /v1/register/`: records one event. 201 is a receipt; it is sent once the event is on disk. */
export function register(readBody: ReadBody, options: RegisterOptions): Middleware<AuthenticatedState> {
  const { validate, identify, enqueue } = options;
  return async (ctx) => {
    const body = await readBody(ctx);
    const request = validated(ctx, body, validate);
    const key = idempotencyKeyOf(ctx);
    const event = acceptEvent(request, ctx.state.organization, identify());
    const accepted = await enqueue(event, key);
    sendJson(ctx, 201, JSON.stringify(recordedForm(accepted)));
  };
}

/** The event of a body. Who is refused learns at once what else is wrong (design, section 2: every failing field). */
function validated(ctx: Context, body: unknown, validate: RegisterOptions['validate']): EventRequest {
  try {
    return validate(body);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new RequestError(error.code, error.message, [...error.faults, ...idempotencyKeyFaults(ctx)]);
  }
}
