import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { optionalFields, optionalTexts } from '../../internal/event/fields.ts';
import { createIdentitySource } from '../../internal/event/identity.ts';
import { mostAgo, mostAhead } from '../../internal/event/occurred-at.ts';

/** An accepted event, with what the test does not say filled in. */
export function anEvent(given: Partial<AcceptedEvent> = {}): AcceptedEvent {
  const createdAt = given.createdAt ?? Date.now();
  return {
    id: createIdentitySource(() => createdAt)().id,
    organization: 'acme',
    automationId: '0190a0b0-0000-7000-8000-000000000001',
    executionId: 'run 1',
    kind: 'EVENT',
    ...optionalTexts(() => ''),
    createdAt,
    ...given,
  };
}

const automations = [
  '0190a0b0-0000-7000-8000-00000000000a',
  '0190A0B0-0000-7000-8000-00000000000A',
  '0190a0b0-0000-7000-8000-00000000000b',
];

/** Noon of the day before a fixed one: events reach over two midnights and share milliseconds. */
const noon = Date.parse('2026-11-20T12:00:00Z');

const someText = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.string({ unit: 'grapheme', maxLength: 8 }))
  .map(storable);

/** Random events of few executions, so that many meet in one. */
export const someEvent: fc.Arbitrary<AcceptedEvent> = fc
  .record({
    organization: fc.constantFrom('acme', 'globex'),
    automationId: fc.constantFrom(...automations),
    executionId: fc.constantFrom('run 1', 'run 2', 'Ü\u{1F680}'),
    kind: fc.constantFrom('START', 'EVENT', 'WARNING', 'ERROR', 'END'),
    ...Object.fromEntries(optionalFields.map(({ property }) => [property, someText])),
    createdAt: fc
      .oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 36 * 3_600_000 }))
      .map((ms) => noon + ms),
    occurredAgo: fc.option(fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -mostAhead, max: mostAgo }))),
  })
  .map(({ occurredAgo, ...event }) => {
    const accepted = anEvent(event);
    return occurredAgo === null ? accepted : { ...accepted, occurredAt: accepted.createdAt - occurredAgo };
  });

/** A text that ingest accepts: without NUL and lone surrogates. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** A valid body of `POST /v1/register/`, with the fields given over it. */
export function eventBody(given: Record<string, unknown> = {}): Record<string, unknown> {
  return { automation_id: randomUUID(), execution_id: randomUUID(), event: 'EVENT', ...given };
}
