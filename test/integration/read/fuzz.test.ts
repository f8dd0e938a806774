import { expect } from 'chai';
import * as fc from 'fast-check';
import { anEvent } from '../../support/events.ts';
import { readOpenApi, type OpenApiDocument } from '../../support/openapi.ts';
import { readEndpoints, requestOf, type ReadEndpoint } from '../../support/read-requests.ts';
import { suiteConsole } from '../../support/reading.ts';

/** Requests of one run; `FUZZ=10000` makes more. */
const runs = Number(process.env['FUZZ'] ?? '500');

/** In each text and id of the other organization. */
const secret = 'globex-secret';

const someTime = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-11-20T12:00:00Z', '2026-11-20T12:00:00+14:00', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z'),
  fc.string(),
);

const someText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('run 1', '%', '_', '\\', "'", '"', 'x'.repeat(300), secret, '\u{1F680}', '../', '/', '\0', '-1'),
);

const someId = fc.oneof(fc.uuid(), fc.constant(anEvent().automationId), someText);

/** A value for a parameter, often a valid one. */
function someValue({ name, schema }: ReadEndpoint['parameters'][number]): fc.Arbitrary<string> {
  const { enum: words } = schema;
  if (words !== undefined) return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...words) }, someText);
  if (name === 'from' || name === 'to') return someTime;
  if (name === 'automation_id') return someId;
  if (name === 'limit') return fc.oneof(fc.integer({ min: -1, max: 502 }).map(String), someText);
  if (name === 'window')
    return fc.oneof(
      fc.tuple(fc.nat(400), fc.constantFrom('m', 'h', 'd')).map((parts) => parts.join('')),
      someText,
    );
  if (name === 'after')
    return fc.oneof(
      fc.tuple(someTime, someId).map((parts) => parts.join(',')),
      someText,
    );
  if (name === 'cursor') return fc.base64String();
  if (name === 'Last-Event-ID') return fc.string({ minLength: 1 }).map((text) => encodeURIComponent(text));
  return someText;
}

describe('the read API under fuzzed requests', () => {
  const suite = suiteConsole({ READ_RATE: '100000' });
  let document: OpenApiDocument;
  before(async () => {
    document = await readOpenApi({ dereferenced: true });
  });

  it('answers no 5xx and no byte of another organization', async () => {
    await suite.store(
      { executionId: 'run 1', kind: 'START' },
      { executionId: 'run 1', kind: 'ERROR', errorId: 'E' },
      { executionId: secret, description: secret, errorId: secret, organization: 'globex' },
    );
    const endpoints = readEndpoints(document);
    const someRequest = fc.constantFrom(...endpoints).chain((endpoint) => {
      const values = endpoint.parameters.map((parameter) => {
        const required = ['path', 'header'].includes(parameter.in);
        return fc.option(someValue(parameter), { freq: required ? 1_000_000 : 1, nil: undefined });
      });
      return fc.tuple(fc.constant(endpoint), fc.tuple(...values));
    });
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(someRequest, async ([endpoint, values]) => {
        const given = values.map((value, index) => [endpoint.parameters[index]?.name ?? '', value] as const);
        const known = given.filter((entry): entry is [string, string] => entry[1] !== undefined);
        const answer = await suite.client.send(
          requestOf(endpoint, new Map(known.map(([name, value]) => [name, value.toWellFormed()]))),
        );
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect(answer.status, answer.body).to.be.lessThan(500);
        expect(answer.body.includes(secret)).to.equal(false);
      }),
      { numRuns: runs },
    );
    expect([...statuses.keys()]).to.include.members([200, 400, 404]);
  }).timeout(60_000 + runs * 60);
});
