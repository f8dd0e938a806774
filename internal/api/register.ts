import type { Middleware } from 'koa';
import { acceptEvent, recordedEvent, type AcceptedEvent, type EventIdentity } from '../event/event.ts';
import type { EventRequest } from '../event/schema.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';

/** Makes an event durable; resolves with it as it was first accepted. Rejects with a refusal when it cannot. */
export type Enqueue = (event: AcceptedEvent, idempotencyKey?: string) => Promise<AcceptedEvent>;

export interface RegisterOptions {
  validate: (body: unknown) => EventRequest;
  identify: () => EventIdentity;
  enqueue: Enqueue;
}

/** `POST /v1/register/`: records one event. 201 is a receipt; it is sent once the event is on disk. */
export function register({ validate, identify, enqueue }: RegisterOptions): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const key = idempotencyKeyOf(ctx);
    const request = validate(ctx.request.body);
    const event = acceptEvent(request, ctx.state.organization, identify());
    const accepted = await enqueue(event, key);
    ctx.status = 201;
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = JSON.stringify(recordedEvent(accepted));
  };
}
