import { expect } from 'chai';
import { fieldLimits } from '../../../internal/event/schema.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';

const uuid = '123e4567-e89b-12d3-a456-426614174000';
/** Text that survives only where nothing is normalized, trimmed, escaped or cut. */
const awkward =
  ' \u00e9 e\u0301 \ufeff\u200b\u202e \ud83e\udeb5\ud83d\udc69\u200d\ud83d\udcbb \u{10ffff} \u0001\u007f\t\r\n "\\/ <b>&amp;</b> \'; drop table events; -- %00 ${x} ';

inBothModes('events that are valid', ({ suiteIngest }) => {
  const suite = suiteIngest();

  async function record(fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    const answer = await suite.ingest.client.register(eventBody(fields));
    expect(answer.status, answer.body).to.equal(201);
    expect(answer.headers['content-type']).to.match(/^application\/json/);
    return answer.json();
  }

  for (const kind of ['START', 'EVENT', 'WARNING', 'ERROR', 'END']) {
    it(`are answered with the recorded event, and stored as answered: ${kind}`, async () => {
      const before = Date.now();
      const texts = { description: 'd', error_id: 'i', error_description: 'e' };
      const sent = { event: kind, automation_id: uuid, execution_id: 'run', ...texts };
      const { created_at: createdAt, ...recorded } = await record(sent);

      // error_id and error_description are kept on every kind: an audit log drops nothing.
      const echoed = { description: 'd', error_id: 'i', error_description_detail: 'e' };
      expect(recorded).to.deep.equal({ automation: uuid, execution_id: 'run', type_of_event: kind, ...echoed });
      expect(createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const at = Date.parse(String(createdAt));
      expect(at).to.be.within(before, Date.now());
      const stored = { description: 'd', errorId: 'i', errorDescription: 'e', createdAt: at };
      const key = { organization: 'acme', automationId: uuid, executionId: 'run', kind };
      expect((await suite.stored())[0]).to.include({ ...key, ...stored });
    });
  }

  it('are answered with the id of the event, by which its proof is found', async () => {
    const answer = await suite.ingest.client.register(eventBody());
    expect((await suite.stored())[0]).to.include({ id: answer.headers['receipt-id'] });
  });

  it('have empty texts for what was omitted or null', async () => {
    const empty = { description: '', error_id: '', error_description_detail: '' };
    expect(await record({})).to.include(empty);
    expect(await record({ description: null, error_id: null, error_description: null })).to.include(empty);
    expect(await record({ description: '', error_id: '', error_description: '' })).to.include(empty);
  });

  it('are echoed and stored byte for byte', async () => {
    const fields = { execution_id: awkward, description: awkward, error_id: awkward, error_description: awkward };
    const recorded = await record({ event: 'ERROR', ...fields });

    const { error_description: detail, ...same } = fields;
    expect(recorded).to.include({ ...same, error_description_detail: detail });
    const stored = { executionId: awkward, description: awkward, errorId: awkward, errorDescription: awkward };
    expect((await suite.stored())[0]).to.include(stored);
  });

  for (const id of [
    uuid.toUpperCase(),
    '123E4567-e89b-12D3-a456-426614174000',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '01890a5d-ac96-774b-bcce-b302099a8057',
  ]) {
    it(`have any UUID, echoed as sent: ${id}`, async () => {
      expect(await record({ automation_id: id })).to.include({ automation: id });
    });
  }

  it('may have any additional field, which is ignored', async () => {
    const body = JSON.stringify(eventBody({ priority: 1, nested: { a: ['huge', {}] } }))
      .replace('"huge"', '1e400')
      .replace(
        '{',
        '{"__proto__":{"description":"inherited"},"constructor":1,"toString":null,"organization":"evil","id":"x",',
      );
    const answer = await suite.ingest.client.register(body);

    expect(answer.status, answer.body).to.equal(201);
    expect(Object.keys(answer.json())).to.have.lengthOf(7);
    expect(answer.json()['description']).to.equal('');
    expect(await suite.stored()).to.have.nested.property('[0].organization', 'acme');
  });

  it('take the last of duplicated keys', async () => {
    const body = JSON.stringify(eventBody({ description: 'first' })).replace(/\}$/, ',"description":"last"}');
    const answer = await suite.ingest.client.register(body);
    expect(answer.json()['description']).to.equal('last');
  });

  it('may be out of order: every one is recorded', async () => {
    for (const kind of ['END', 'EVENT', 'START', 'START', 'ERROR', 'END'])
      await record({ event: kind, execution_id: 'odd' });
    const stored = await suite.stored();
    expect(stored.map(({ kind }) => kind)).to.deep.equal(['END', 'EVENT', 'START', 'START', 'ERROR', 'END']);
    expect(stored.map(({ id }) => id)).to.deep.equal(stored.map(({ id }) => id).toSorted());
  });

  it('may be 32 levels deep, in what is ignored', async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    await record({ extra: nested(31) });
    expect((await suite.ingest.client.register(eventBody({ extra: nested(32) }))).status).to.equal(400);
  });
});

inBothModes('lengths, in characters', ({ suiteIngest }) => {
  const limits = { executionId: 255, errorId: 255, description: 10_000, errorDescription: 100_000 };
  const suite = suiteIngest(() => ({ BODY_LIMIT_BYTES: '1000000' }));

  it('have the documented limits', () => {
    expect(fieldLimits).to.deep.equal(limits);
  });

  for (const [field, limit] of [
    ['execution_id', limits.executionId],
    ['error_id', limits.errorId],
    ['description', limits.description],
    ['error_description', limits.errorDescription],
  ] as const) {
    for (const character of ['a', 'é', '🪵']) {
      it(`may be ${limit} and not one more for ${field}, of ${character}`, async () => {
        const { client } = suite.ingest;
        const fits = await client.register(eventBody({ [field]: character.repeat(limit) }));
        const tooLong = await client.register(eventBody({ [field]: character.repeat(limit + 1) }));

        expect(fits.status).to.equal(201);
        expect(tooLong.status).to.equal(400);
        expect(tooLong.json()['errors']).to.deep.equal([
          { pointer: `/${field}`, detail: `must not be longer than ${limit} characters` },
        ]);
      });
    }
  }
});
