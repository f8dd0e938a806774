import { randomUUID } from 'node:crypto';

/** A valid body of `POST /v1/register/`, with the fields given over it. */
export function eventBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { automation_id: randomUUID(), execution_id: randomUUID(), event: 'EVENT', ...fields };
}
