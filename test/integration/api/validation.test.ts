import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';

interface Fault {
  pointer: string;
  detail: string;
}

const uuid = '123e4567-e89b-12d3-a456-426614174000';

inBothModes('refused events', ({ suiteIngest }) => {
  const suite = suiteIngest();
  afterEach(async () => {
    expect(await suite.stored()).to.deep.equal([]);
  });

  /** The faults of a 400. */
  async function faultsOf(body: unknown): Promise<Fault[]> {
    const answer = await suite.ingest.client.register(body);
    expect(answer.status, answer.body).to.equal(400);
    expect(answer.headers['content-type']).to.equal('application/problem+json');
    expect(answer.json()).to.include({ type: 'https://runledger.dev/problems/invalid-event', title: 'Invalid event' });
    return answer.json<{ errors: Fault[] }>().errors;
  }

  for (const body of ['[]', '"x"', 'null', '1', 'true', '[{}]']) {
    it(`are no objects: ${body}`, async () => {
      expect(await faultsOf(body)).to.deep.equal([{ pointer: '', detail: 'must be a JSON object' }]);
    });
  }

  it('lack required fields: each is listed', async () => {
    const faults = await faultsOf({ description: 'x' });
    expect(faults).to.have.deep.members([
      { pointer: '/automation_id', detail: 'is required' },
      { pointer: '/execution_id', detail: 'is required' },
      { pointer: '/event', detail: 'is required' },
    ]);
  });

  it('have every field wrong: each is listed once', async () => {
    const faults = await faultsOf({
      automation_id: 7,
      execution_id: '',
      event: null,
      description: [],
      error_id: 'x'.repeat(256),
      error_description: '\0',
    });
    expect(faults).to.have.deep.members([
      { pointer: '/automation_id', detail: 'must be a string' },
      { pointer: '/execution_id', detail: 'must not be empty' },
      { pointer: '/event', detail: 'must be one of START, EVENT, WARNING, ERROR, END' },
      { pointer: '/description', detail: 'must be a string' },
      { pointer: '/error_id', detail: 'must not be longer than 255 characters' },
      { pointer: '/error_description', detail: 'must not contain U+0000 or unpaired surrogates' },
    ]);
  });

  const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString();
  const notRfc3339 = [
    '',
    'now',
    '2026-01-31',
    '2026-01-31T08:00:00',
    '2026-01-31 08:00:00Z',
    '2026-02-30T08:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T08:00:60Z',
    '2026-01-31T08:00Z',
    '2026-01-31T08:00:00+0100',
    '1769846400',
  ];
  for (const occurred_at of [...notRfc3339, 1_769_846_400]) {
    it(`have no time as occurred_at: ${occurred_at}`, async () => {
      const detail =
        typeof occurred_at === 'string'
          ? 'must be a time in RFC 3339 with an offset, such as 2026-01-31T08:00:00Z'
          : 'must be a string';
      expect(await faultsOf(eventBody({ occurred_at }))).to.deep.equal([{ pointer: '/occurred_at', detail }]);
    });
  }

  it('happened too long ago, or in the future; other faults are listed too', async () => {
    const detail = 'must not be more than 90 days ago, nor more than 5 minutes ahead';
    for (const occurred_at of [
      minutes(-90 * 24 * 60 - 1),
      minutes(6),
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
    ]) {
      expect(await faultsOf(eventBody({ occurred_at }))).to.deep.equal([{ pointer: '/occurred_at', detail }]);
    }
    expect(await faultsOf(eventBody({ occurred_at: minutes(6), event: 'BEGIN' }))).to.deep.equal([
      { pointer: '/event', detail: 'must be one of START, EVENT, WARNING, ERROR, END' },
      { pointer: '/occurred_at', detail },
    ]);
  });

  for (const id of [
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    uuid.replaceAll('-', ''),
    `${uuid}\n`,
    ` ${uuid}`,
    `${uuid}0`,
    uuid.slice(1),
    uuid.replace('1', 'g'),
    '',
  ]) {
    it(`have no UUID: ${JSON.stringify(id)}`, async () => {
      const faults = await faultsOf(eventBody({ automation_id: id }));
      expect(faults.map(({ pointer }) => pointer)).to.deep.equal(['/automation_id']);
      expect(faults[0]?.detail).to.match(/^must be a UUID/);
    });
  }

  for (const kind of ['start', 'Start', 'START ', 'STOP', '', 5, true, ['START'], {}]) {
    it(`are of no kind: ${JSON.stringify(kind)}`, async () => {
      const faults = await faultsOf(eventBody({ event: kind }));
      expect(faults).to.deep.equal([{ pointer: '/event', detail: 'must be one of START, EVENT, WARNING, ERROR, END' }]);
    });
  }

  for (const field of ['execution_id', 'description', 'error_id', 'error_description']) {
    for (const [what, escaped] of [
      ['NUL', '\\u0000'],
      ['a high surrogate alone', '\\ud83d'],
      ['a low surrogate alone', 'x\\udeb5'],
      ['surrogates the wrong way round', '\\udeb5\\ud83d'],
    ] as const) {
      it(`hold ${what} in ${field}`, async () => {
        const body = JSON.stringify(eventBody({ [field]: '?' })).replace('?', escaped);
        expect(await faultsOf(body)).to.deep.equal([
          { pointer: `/${field}`, detail: 'must not contain U+0000 or unpaired surrogates' },
        ]);
      });
    }

    it(`have a number, a boolean or an object for ${field}`, async () => {
      for (const value of [1, false, {}, []]) {
        expect(await faultsOf(eventBody({ [field]: value }))).to.deep.equal([
          { pointer: `/${field}`, detail: 'must be a string' },
        ]);
      }
    });
  }

  it('hold NUL or half a character in the other fields', async () => {
    for (const escaped of ['\\u0000', '\\ud83d']) {
      const faults = await faultsOf(`{"automation_id":"${escaped}","execution_id":"x","event":"${escaped}"}`);
      expect(faults.map(({ pointer }) => pointer)).to.have.members(['/automation_id', '/event']);
    }
  });

  it('have null where a value is required', async () => {
    const faults = await faultsOf({ automation_id: null, execution_id: null, event: null });
    expect(faults.map(({ pointer }) => pointer)).to.have.members(['/automation_id', '/execution_id', '/event']);
  });

  it('try to supply fields through __proto__', async () => {
    const body = `{"__proto__":${JSON.stringify(eventBody())},"constructor":{"prototype":{"event":"START"}}}`;
    expect(await faultsOf(body)).to.have.lengthOf(3);
    expect(({} as { event?: string }).event).to.equal(undefined);
  });

  for (const [levels, open, close] of [
    [45_000, '[', ']'],
    [40_000, '{"a":', '}'],
  ] as const) {
    it(`are nested ${levels} levels deep, in ${open}${close}`, async () => {
      const deep = open.repeat(levels) + '1' + close.repeat(levels);
      const body = JSON.stringify(eventBody({ extra: '?' })).replace('"?"', deep);
      const faults = await faultsOf(body);
      expect(faults).to.deep.equal([{ pointer: '', detail: 'must not be nested deeper than 32 levels' }]);
      await faultsOf(deep);
    });
  }
});
