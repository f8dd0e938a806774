import { expect } from 'chai';
import type { Answer } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { underWay } from '../../support/keys.ts';
import { expectValid, readOpenApi, type OpenApiOperation } from '../../support/openapi.ts';
import { readToken } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';

inBothModes('POST /v1/close/', ({ suiteIngest }) => {
  const suite = suiteIngest();
  let operation: OpenApiOperation | undefined;
  before(async () => {
    operation = (await readOpenApi({ dereferenced: true })).paths['/v1/close/']?.['post'];
  });

  const { automation_id, execution_id } = eventBody();
  async function close(more: object, headers: Record<string, string> = {}): Promise<Answer> {
    const body = { automation_id, execution_id, reason: 'The host was replaced.', ...more };
    const answer = await suite.ingest.client.register(body, headers, undefined, '/v1/close/');
    expectValid(operation?.responses[String(answer.status)], answer.json());
    return answer;
  }
  const stored = async (): Promise<string[]> =>
    (await suite.stored()).map(({ kind, errorId, description }) => [kind, errorId, description].join(' | '));

  it('ends a run with the reason of a person, once', async () => {
    const first = await close({ as: 'ended' });
    expect(first.status, first.body).to.equal(201);
    expect((await close({ as: 'ended' })).body).to.equal(first.body);
    expect(await stored()).to.deep.equal(['END |  | Closed by hand: The host was replaced.']);
  });

  it('422 for another reason than that of the first time, which stays', async () => {
    await close({ as: 'ended' });
    const answer = await close({ as: 'ended', reason: 'The host was replaced: ticket 5.' });
    expectProblem(answer, 422, 'idempotency-key-reused');
    expect(answer.json()).to.deep.include({ detail: 'The run was closed with another reason; see errors.' });
    expect(answer.json<{ errors: object[] }>().errors).to.deep.equal([
      { pointer: '/reason', detail: 'differs from the reason with which the run was closed' },
    ]);
    expect(await stored()).to.deep.equal(['END |  | Closed by hand: The host was replaced.']);
  });

  it('ends a lost run as a failure named lost', async () => {
    expect((await close({ as: 'lost' })).status).to.equal(201);
    expect(await stored()).to.deep.equal([
      'ERROR | lost | Closed by hand: The host was replaced.',
      'END |  | Closed by hand: The host was replaced.',
    ]);
  });

  it('names every wrong field, and records nothing', async () => {
    const answer = await close({ automation_id: 'nightly', as: 'gone', reason: ' ' });
    expectProblem(answer, 400, 'invalid-event');
    const { errors } = answer.json<{ errors: { pointer: string; detail: string }[] }>();
    expect(errors.map(({ pointer }) => pointer)).to.have.members(['/as', '/reason', '/automation_id']);
    const long = await close({ as: 'lost', reason: 'x'.repeat(10_001) });
    expect(long.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer)).to.deep.equal([
      '/reason',
    ]);
    expect(await stored()).to.deep.equal([]);
  });

  it('503 for a close that is being recorded: nobody sent a key that a 409 could be about', async () => {
    await close({ as: 'ended' });
    expect(await underWay(suite.redis)).to.equal(1);
    expectProblem(await close({ as: 'ended' }), 503, 'unavailable');
    expect(await stored()).to.have.lengthOf(1);
  });

  it('needs a write token', async () => {
    expectProblem(await close({ as: 'ended' }, { token: readToken }), 403, 'insufficient-scope');
  });
});
