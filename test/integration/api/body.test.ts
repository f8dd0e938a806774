import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { token } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';
import { exchange, RawConnection, registerHead } from '../../support/raw-connection.ts';

inBothModes('bodies that are not JSON', ({ suiteIngest }) => {
  const suite = suiteIngest();
  afterEach(async () => {
    expect(await suite.stored()).to.deep.equal([]);
  });

  const json = JSON.stringify(eventBody());
  for (const [what, headers, body] of [
    ['text/plain', { 'content-type': 'text/plain' }, json],
    ['no Content-Type', { 'content-type': undefined }, json],
    ['an empty Content-Type', { 'content-type': '' }, json],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'event=START'],
    ['another kind of JSON', { 'content-type': 'application/problem+json' }, json],
    ['another charset', { 'content-type': 'application/json; charset=latin1' }, json],
    ['UTF-16', { 'content-type': 'application/json; charset="utf-16"' }, Buffer.from(json, 'utf16le')],
    ['deflate', { 'content-encoding': 'deflate' }, json],
    ['two encodings', { 'content-encoding': 'gzip, identity' }, json],
    ['text/plain that is too large', { 'content-type': 'text/plain' }, Buffer.alloc(300 * 1024, 32)],
  ] as const) {
    it(`are refused with 415: ${what}`, async () => {
      expectProblem(await suite.ingest.client.register(body, headers), 415, 'unsupported-media-type');
    });
  }

  for (const [what, body, detail] of [
    ['empty', '', 'must not be empty'],
    ['cut off', '{"event":"START"', 'must be valid JSON: it ends at line 1, column 17, inside an object'],
    [
      'followed by more',
      '{}\n{}',
      'must be valid JSON: more follows at line 2, column 1, after the end of the document',
    ],
    ['not JSON at all', 'hello', 'must be valid JSON: the word at line 1, column 1 is no JSON value'],
    ['single-quoted', "{'event':'START'}", 'must be valid JSON: the text at line 1, column 2 must be in double quotes'],
    ['NaN', '{"a":NaN}', 'must be valid JSON: NaN at line 1, column 6 is no JSON value'],
    [
      'a raw control character',
      '{"a":"\u0001"}',
      'must be valid JSON: the control character at line 1, column 7 must be escaped',
    ],
    [
      'invalid UTF-8',
      Buffer.from([...Buffer.from('{"execution_id":"'), 0xff, 0x22, 0x7d]),
      'must be valid UTF-8, which byte 18 is not',
    ],
    ['an overlong NUL', Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'must be valid UTF-8, which byte 2 is not'],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'must be valid UTF-8, which byte 2 is not'],
  ] as const) {
    it(`are refused with 400: ${what}`, async () => {
      const answer = await suite.ingest.client.register(body);

      expectProblem(answer, 400, 'malformed-request');
      expect(answer.json()['errors']).to.deep.equal([{ pointer: '', detail }]);
    });
  }

  it('are refused with 400: no body, and no length of one', async () => {
    const answer = await suite.ingest.client.register('', { 'content-length': '0' });
    const raw = await exchange(suite.ingest.port, ...registerHead(token), 'Connection: close', '', '');
    expectProblem(answer, 400, 'malformed-request');
    expect(raw).to.match(/^HTTP\/1\.1 400 /);
    expect(raw).to.contain('must not be empty');
  });
});

inBothModes('size of bodies', ({ startIngest, suiteIngest }) => {
  const suite = suiteIngest(() => ({ BODY_LIMIT_BYTES: '2000' }));
  const bodyOf = (bytes: number): string => JSON.stringify(eventBody()).padEnd(bytes, ' ');
  const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined };

  it('may reach the limit, in one piece or in chunks', async () => {
    const { client } = suite.ingest;
    const [whole, inChunks] = [await client.register(bodyOf(2_000)), await client.register(bodyOf(2_000), chunked)];
    expect(whole.status).to.equal(201);
    expect(inChunks.status).to.equal(201);
  });

  it('may not exceed the limit by one byte', async () => {
    const { client } = suite.ingest;
    expectProblem(await client.register(bodyOf(2_001)), 413, 'payload-too-large');
    expectProblem(await client.register(bodyOf(2_001), chunked), 413, 'payload-too-large');
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('is read to its end past the limit, and the next request on the connection is served', async () => {
    using connection = await RawConnection.open(suite.ingest.port);
    const chunk = ' '.repeat(65_536);
    const chunks = Array.from({ length: 16 }, () => [chunk.length.toString(16), chunk]).flat();
    connection.send(...registerHead(token), 'Transfer-Encoding: chunked', '', ...chunks, '0', '', '');
    await connection.receives(/HTTP\/1\.1 413 /);
    const body = bodyOf(300);
    connection.send(...registerHead(token), `Content-Length: ${body.length}`, '', body);
    await connection.receives(/HTTP\/1\.1 201 /);
  });

  it('is refused by its Content-Length before the body comes', async () => {
    const head = [...registerHead(token), 'Content-Length: 99999999999999', 'Expect: 100-continue'];
    expect(await exchange(suite.ingest.port, ...head, '', '')).to.match(/^HTTP\/1\.1 413 /);
  });

  it('is 256 KiB unless set otherwise', async () => {
    await using standard = await startIngest({ REDIS_URL: suite.redis.url });
    const body = JSON.stringify(eventBody());
    expect((await standard.client.register(body.padEnd(256 * 1024))).status).to.equal(201);
    expectProblem(await standard.client.register(body.padEnd(300 * 1024)), 413, 'payload-too-large');
  });
});

inBothModes('media types that are JSON', ({ suiteIngest }) => {
  const suite = suiteIngest();
  for (const headers of [
    { 'content-type': 'application/json' },
    { 'content-type': 'Application/JSON' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'application/json ; charset=utf-8' },
    { 'content-type': 'application/json;charset="UTF-8"' },
    { 'content-type': 'application/json; profile=x' },
    { 'content-encoding': 'identity' },
    { 'content-encoding': 'Identity' },
  ]) {
    it(`are accepted: ${Object.values(headers).join()}`, async () => {
      const answer = await suite.ingest.client.register(eventBody(), headers);
      expect(answer.status, answer.body).to.equal(201);
    });
  }
});
