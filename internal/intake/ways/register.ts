import type { Context, Middleware } from 'koa';
import { acceptEvent, recordedForm, type AcceptedEvent } from '../../event/event.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { EventRequest } from '../../event/schema.ts';
import type { AuthenticatedState } from '../http/authenticate.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { callerKey, idempotencyKeyFaults, idempotencyKeyOf } from './idempotency-key.ts';
import { ignoredFields, IgnoredFields } from '../bodies/ignored-fields.ts';
import type { IntakeOptions } from './intake.ts';
import type { JsonBody } from '../bodies/json-body.ts';

/**
 * Makes an event durable, and resolves with it as first accepted. Otherwise rejects with a {@link
 * RequestError}.
 */
export type Enqueue = (event: AcceptedEvent, key?: RepeatKey) => Promise<AcceptedEvent>;

export interface RegisterOptions extends Pick<IntakeOptions, 'validate' | 'identify'> {
  enqueue: Enqueue;
}

/**
 * `POST /v1/register/`: records one event. The 201 is a receipt: the API sends it once the event is
 * on disk. As the most frequent request, it takes the shortest way.
 */
export function register(
  body: JsonBody,
  sendJson: HttpStack['sendJson'],
  options: RegisterOptions,
): Middleware<AuthenticatedState> {
  const { validate, identify, enqueue } = options;
  return async (ctx) => {
    const { event, key, ignored } = await body.read(ctx, (value) => {
      const request = validated(ctx, value, validate);
      const key = callerKey(idempotencyKeyOf(ctx));
      const event = acceptEvent(request, ctx.state.organization, identify());
      return { key, event, ignored: ignoredFields(request) };
    });
    const accepted = await enqueue(event, key);
    sendJson(ctx, 201, JSON.stringify(recordedForm(accepted)), accepted.id, headerOf(ignored));
  };
}

function headerOf(ignored: readonly string[] | undefined): string | undefined {
  if (ignored === undefined) return undefined;
  const fields = new IgnoredFields();
  fields.add('', ignored);
  return fields.header;
}

/**
 * Returns the event of a body. The error lists every failing field, and a malformed Idempotency-Key
 * too.
 */
function validated(ctx: Context, body: unknown, validate: RegisterOptions['validate']): EventRequest {
  try {
    return validate(body);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new RequestError(error.code, error.message, [...error.faults, ...idempotencyKeyFaults(ctx)]);
  }
}
