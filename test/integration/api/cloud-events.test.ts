import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CloudEvent, HTTP, type Message } from 'cloudevents';
import { mostAhead } from '../../../internal/event/occurred-at.ts';
import type { Answer, Request } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { expectValid, readOpenApi, type OpenApiOperation } from '../../support/openapi.ts';
import { readToken } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';
import { until } from '../../support/until.ts';

const batchType = 'application/cloudevents-batch+json';

inBothModes('POST /v1/cloudevents/', ({ suiteIngest }) => {
  const suite = suiteIngest();
  let operation: OpenApiOperation | undefined;
  before(async () => {
    operation = (await readOpenApi({ dereferenced: true })).paths['/v1/cloudevents/']?.['post'];
  });
  const automation_id = randomUUID();
  const source = 'https://acme.example/cron-jobs';
  const event = (kind: string, { id = randomUUID() as string, ...data }: Record<string, unknown> = {}) =>
    new CloudEvent({
      type: `dev.runledger.${kind}`,
      source,
      id: String(id),
      data: { automation_id, execution_id: 'run-1', ...data },
    });

  async function send(body: unknown, headers: Request['headers']): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await suite.ingest.client.register(text, headers, undefined, '/v1/cloudevents/');
    expectValid(operation?.responses[String(answer.status)], answer.json());
    return answer;
  }
  const deliver = ({ headers, body }: Message): Promise<Answer> =>
    send(body, Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])));
  const batch = (events: unknown[]): Promise<Answer> => send(events, { 'content-type': batchType });
  const kinds = async (): Promise<string[]> => (await suite.stored()).map(({ kind }) => kind);

  it('records each type in binary and in structured mode, with its time', async () => {
    for (const kind of ['start', 'event', 'warning', 'error', 'end']) {
      for (const mode of [HTTP.binary, HTTP.structured]) {
        const sent = event(kind, { description: kind });
        const answer = await deliver(mode(sent));
        expect(answer.status, answer.body).to.equal(201);
        expect(answer.json()).to.containSubset([{ type_of_event: kind.toUpperCase(), description: kind }]);
        expect((await suite.stored()).at(-1)?.occurredAt).to.equal(Date.parse(String(sent.time)));
      }
    }
    expect(await kinds()).to.have.lengthOf(10);
  });

  it('records a batch in one commit, and each event once by its source and id', async () => {
    const events = [event('start'), event('end')];
    for (let i = 0; i < 2; i++) expect((await batch(events)).status).to.equal(201);
    for (const one of events) expect((await deliver(HTTP.binary(one))).status).to.equal(201);
    expect(await kinds()).to.deep.equal(['START', 'END']);
    expect(await suite.redis.command('llen', '{runledger}:events:wait')).to.equal(1);
    const inCapitals = event('start', { id: events[0]?.id, automation_id: automation_id.toUpperCase() });
    expect((await batch([{ ...inCapitals.toJSON(), time: events[0]?.time }])).status).to.equal(201);
    expect(await kinds()).to.have.lengthOf(2);
    const changed = await batch([event('start', { id: events[0]?.id, description: 'other' })]);
    expectProblem(changed, 422, 'idempotency-key-reused');
  });

  it('reads a time without an offset as UTC, and replaces one outside the limits with the time of acceptance', async () => {
    const now = Date.now();
    const at = (ms: number): string => new Date(now + ms).toISOString();
    for (const time of [at(0).replace('Z', ''), at(0).replace('Z', '829+0000'), at(-91 * 86_400_000), at(3_600_000)]) {
      const structured = await batch([{ ...event('start').toJSON(), time }]);
      const { headers, body } = HTTP.binary(event('start'));
      const binary = await send(body, { ...(headers as Record<string, string>), 'ce-time': time });
      expect([structured.status, binary.status], time).to.deep.equal([201, 201]);
    }
    const times = (await suite.stored()).map(({ occurredAt }) => occurredAt);
    expect(times).to.deep.equal([now, now, now, now, undefined, undefined, undefined, undefined]);
  });

  it('takes the same message for the same when its time comes within the limits meanwhile', async () => {
    const time = Date.now() + mostAhead + 300;
    const sent = { ...event('end').toJSON(), time: new Date(time).toISOString() };
    const first = await batch([sent]);
    expect(first.status).to.equal(201);
    expect((await suite.stored()).map(({ occurredAt }) => occurredAt)).to.deep.equal([undefined]);
    await until('its time is within the limits', () => Date.now() + mostAhead > time);
    expect((await batch([sent])).body).to.equal(first.body);
    expect(await kinds()).to.have.lengthOf(1);
  });

  it('decodes percent-encoded headers of binary mode', async () => {
    const { headers, body } = HTTP.binary(event('start', { id: 'a%20b' }));
    await send(body, { ...(headers as Record<string, string>), 'ce-id': 'a%2520b' });
    await batch([event('start', { id: 'a%20b' })]);
    expect(await kinds()).to.deep.equal(['START']);
  });

  it('takes a header of binary mode that comes twice with one value, and refuses two values', async () => {
    const { headers, body } = HTTP.binary(event('start'));
    const twice = (second: string) => ({
      ...(headers as Record<string, string>),
      'ce-id': [String(headers['ce-id']), second],
    });
    expect((await send(body, twice(String(headers['ce-id'])))).status).to.equal(201);
    expect((await send(body, headers)).status).to.equal(201);
    expect(await kinds()).to.deep.equal(['START']);
    expectProblem(await send(body, twice('another')), 400, 'invalid-event');
  });

  it('takes the data of SDKs that write bytes, in structured mode and in a batch', async () => {
    const inBytes = (kind: string, mark = '') => {
      const { data, ...rest } = event(kind).toJSON();
      return { ...rest, data_base64: Buffer.from(mark + JSON.stringify(data)).toString('base64') };
    };
    const single = await send(inBytes('start'), { 'content-type': 'application/cloudevents+json; charset=UTF-8' });
    expect(single.status, single.body).to.equal(201);
    expect((await batch([inBytes('event', '\uFEFF'), event('end').toJSON()])).status).to.equal(201);
    expect(await kinds()).to.deep.equal(['START', 'EVENT', 'END']);
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    const { data, ...rest } = event('end').toJSON();
    const bad = [
      { ...rest, data_base64: 'no base64' },
      { ...rest, data_base64: 7 },
      { ...rest, data_base64: encoded('[]') },
      { ...rest, data_base64: encoded('{') },
      { ...rest, data_base64: Buffer.from([0xff, 0xfe]).toString('base64') },
      { ...rest, data, data_base64: encoded('{}') },
      { ...rest, data_base64: encoded('{"automation_id":"7","execution_id":"a"}') },
    ].map((one, index) => ({ ...one, id: String(index) }));
    const { errors } = (await batch(bad)).json<{ errors: { pointer: string }[] }>();
    const pointers = [0, 1, 2, 3, 4, 5].map((index) => `/${index}/data_base64`);
    expect(errors.map(({ pointer }) => pointer)).to.deep.equal([...pointers, '/6/data_base64/automation_id']);
  });

  it('takes JSON of any type in binary mode', async () => {
    const types = [
      'application/json; charset=utf-8',
      'application/vnd.acme+json',
      'Application/Vnd.Acme.v2+JSON; charset=UTF-8',
    ];
    for (const type of types) {
      const { headers, body } = HTTP.binary(event('start'));
      const answer = await send(body, { ...(headers as Record<string, string>), 'content-type': type });
      expect(answer.status, answer.body).to.equal(201);
    }
    expect(await kinds()).to.have.lengthOf(3);
    const { headers, body } = HTTP.binary(event('start'));
    for (const type of [
      'application/json; charset=utf-16',
      'application/vnd.acme+xml',
      'application/cloudevents+xml',
    ]) {
      const answer = await send(body, { ...(headers as Record<string, string>), 'content-type': type });
      expectProblem(answer, 415, 'unsupported-media-type');
    }
  });

  it('agrees with the sender of a webhook, which has no token yet', async () => {
    const ask = (headers: Record<string, string>, path = '/v1/cloudevents/'): Promise<Answer> =>
      suite.ingest.client.send({ method: 'OPTIONS', path, headers: { token: undefined, ...headers } });
    const sender = { 'webhook-request-origin': 'eventgrid.azure.net', 'webhook-request-rate': '120' };
    for (const path of ['/v1/cloudevents/', '/v1/cloudevents']) {
      const { status, headers, body } = await ask(sender, path);
      expect([status, body]).to.deep.equal([200, '']);
      expect(headers).to.include({
        allow: 'POST',
        'webhook-allowed-origin': 'eventgrid.azure.net',
        'webhook-allowed-rate': '*',
      });
    }
    for (const headers of [{}, { 'webhook-request-origin': 'a b' }] as Record<string, string>[]) {
      const answer = await ask(headers);
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers).not.to.have.property('webhook-allowed-origin');
    }
    expectProblem(await ask(sender, '/v1/register/'), 405, 'method-not-allowed');
  });

  it('400: names each fault, and records none', async () => {
    const twice = event('start');
    const bad = { specversion: '0.3', type: 'com.example', source: '', id: 7, data: [] };
    const answer = await batch([
      twice,
      twice,
      bad,
      { ...event('end', { execution_id: '' }).toJSON(), time: 'today' },
      5,
    ]);
    expectProblem(answer, 400, 'invalid-event');
    const pointers = answer.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer);
    expect(pointers).to.include.members(['/1/id', '/2/specversion', '/2/type', '/2/source', '/2/id', '/2/data']);
    expect(pointers).to.include.members(['/3/data/execution_id', '/3/time', '/4/specversion']);
    for (const events of [[], Array.from({ length: 501 }, () => event('start'))]) {
      expectProblem(await batch(events), 400, 'invalid-event');
    }
    expectProblem(await send('{}', { 'content-type': batchType }), 400, 'invalid-event');
    expectProblem(await send('{}', {}), 400, 'invalid-event');
    expectProblem(await send('{', {}), 400, 'malformed-request');
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('401, 403, 413 and 415', async () => {
    const message = HTTP.structured(event('start'));
    const headers = { 'content-type': 'application/cloudevents+json' };
    expectProblem(await send(message.body, { ...headers, token: undefined }), 401, 'unauthorized');
    expectProblem(await send(message.body, { ...headers, token: readToken }), 403, 'insufficient-scope');
    expectProblem(await send('x'.repeat(2 * 1_024 * 1_024 + 1), headers), 413, 'payload-too-large');
    expectProblem(await send('x', { 'content-type': 'text/plain' }), 415, 'unsupported-media-type');
  });
});
