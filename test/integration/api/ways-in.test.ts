import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Answer } from '../../support/api-client.ts';
import { bodyRoomBytes } from '../../../internal/intake/bodies/body-room.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { encodings, inPieces, zstdBomb } from '../../support/encoded-bodies.ts';
import { token } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { until } from '../../support/until.ts';
import { aFailure, waysIn, type Failure, type WayIn } from '../../support/ways-in.ts';

const mark = Buffer.from('\uFEFF');
const ignored = 'runledger-ignored-fields';
const jsonWays = waysIn.filter(({ isJson }) => isJson);

inBothModes('every way in', ({ suiteIngest }) => {
  const suite = suiteIngest();

  /** Sends a body; `encoding`: its Content-Encoding. */
  function send(
    way: WayIn,
    failure: Failure,
    body: string | Buffer | readonly Buffer[] = way.body(failure),
    encoding?: string,
  ): Promise<Answer> {
    const headers = { ...way.headers(), ...(encoding !== undefined && { 'content-encoding': encoding }) };
    return suite.ingest.client.send({ method: 'POST', path: way.path(failure), headers, body });
  }

  async function textsOf({ execution }: Failure): Promise<string[]> {
    const events = (await suite.stored()).filter(
      ({ executionId, kind }) => executionId === execution && kind === 'ERROR',
    );
    return events.map(({ errorDescription }) => errorDescription);
  }

  /** What an answer says about the body. */
  function detailsOf(answer: Answer): string {
    const { errors } = answer.json<{ errors?: { detail: string }[] }>();
    return (errors ?? []).map(({ detail }) => detail).join();
  }

  for (const way of waysIn) {
    it(`${way.name} takes gzip, zstd and a byte order mark`, async () => {
      for (const { name, encode } of encodings) {
        for (const start of ['', mark]) {
          const failure = aFailure({ text: `Ofen ${name} heiß ${String(start)}` });
          const answer = await send(
            way,
            failure,
            encode(Buffer.concat([Buffer.from(start), Buffer.from(way.body(failure))])),
            name,
          );
          expect(answer.status, answer.body).to.equal(way.receipt);
          expect(await textsOf(failure)).to.deep.equal([failure.text]);
        }
      }
    });

    it(`${way.name} says what is wrong with an encoding, and records nothing`, async () => {
      const failure = aFailure();
      const body = Buffer.from(way.body(failure));
      const [gzip, zstd] = [gzipSync(body), zstdCompressSync(body)];
      for (const [encoding, bytes, what] of [
        ['gzip', gzip.subarray(0, -9), 'ends early'],
        ['zstd', zstd.subarray(0, -3), 'ends early'],
        ['gzip', Buffer.concat([gzip, body]), 'goes on after its end'],
        ['zstd', Buffer.concat([zstd, body]), 'goes on after its end'],
        ['gzip', Buffer.concat([gzip, Buffer.alloc(8)]), 'goes on after its end'],
        ['gzip', Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(8, 1)]), 'is corrupt'],
        ['gzip', body, 'is something else'],
        ['zstd', gzip, 'is something else'],
      ] as const) {
        const answer = await send(way, failure, bytes, encoding);
        expectProblem(answer, 400, 'malformed-request');
        expect(detailsOf(answer)).to.contain(`must be ${encoding}, as Content-Encoding says: it ${what}`);
      }
      for (const encoding of ['br', 'deflate', 'gzip, gzip', 'zstd, gzip', 'gzip, identity', 'x']) {
        const answer = await send(way, failure, body, encoding);
        expectProblem(answer, 415, 'unsupported-media-type');
        expect(answer.headers['accept-encoding']).to.equal('gzip, zstd');
      }
      expect(await suite.stored()).to.deep.equal([]);
    });

    it(`${way.name} refuses the ids . and .. of an execution, and takes those that look like them`, async () => {
      for (const execution of ['.', '..']) {
        const answer = await send(way, aFailure({ execution }));
        expect(answer.status, answer.body).to.equal(400);
        expect(answer.body).to.contain(`"${way.idAt}"`).and.to.contain('must not be . or ..');
      }
      expect(await suite.stored()).to.deep.equal([]);
      for (const execution of ['...', '%2e', '%2E%2e', '. ', './..', '.a']) {
        const failure = aFailure({ execution });
        const answer = await send(way, failure);
        expect(answer.status, answer.body).to.equal(way.receipt);
        expect(await textsOf(failure)).to.deep.equal([failure.text]);
      }
    });
  }

  // A batch of OpenLineage is read as a single event is.
  for (const way of waysIn.filter(({ name }) => name !== 'OpenLineage in a batch')) {
    it(`${way.name} refuses a body that unpacks to more than its limit with 413`, async () => {
      const half = Buffer.alloc(way.limit / 2 + 1, ' ');
      const failure = aFailure();
      const bombs = [
        ['gzip', Buffer.concat([gzipSync(half), gzipSync(half)])],
        ['zstd', zstdBomb(2 ** 30)],
      ] as const;
      for (const [encoding, body] of bombs) {
        const answer = await send(way, failure, body, encoding);
        expectProblem(answer, 413, 'payload-too-large');
        expect(answer.json()['detail']).to.equal(`The body must not be larger than ${way.limit} bytes.`);
      }
      expect((await send(way, failure)).status).to.equal(way.receipt);
      expect(await textsOf(failure)).to.have.lengthOf(1);
    });
  }

  for (const way of jsonWays) {
    it(`${way.name} says why a body is no JSON and where, and repeats none of it`, async () => {
      const secret = 'hunter2-hunter2';
      const json = way.body(aFailure({ text: secret })).trim();
      const text = JSON.stringify(secret);
      const end = json.length;
      const place = json.indexOf(text) + 1;
      const utf16 = Buffer.from(json, 'utf16le');
      const encoded = (value: string): string => encodeURIComponent(value);
      for (const [body, what] of [
        ['', 'must not be empty'],
        [mark, 'must not be empty'],
        [encoded(json), 'must be JSON: it is percent-encoded, as in a form'],
        [`event=${encoded(json)}`, 'must be JSON: it is a form'],
        [utf16, 'must be UTF-8: it is UTF-16'],
        [Buffer.from(utf16).swap16(), 'must be UTF-8: it is UTF-16'],
        [Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 'must be UTF-8: it is UTF-16'],
        [gzipSync(json), 'must be JSON: it is compressed, so send Content-Encoding: gzip'],
        [zstdCompressSync(json), 'must be JSON: it is compressed, so send Content-Encoding: zstd'],
        [json.replace(text, 'NaN'), `NaN at line 1, column ${place} is no JSON value`],
        [json.replace(text, `'${secret}'`), `the text at line 1, column ${place} must be in double quotes`],
        [json.replace(text, secret), `the word at line 1, column ${place} is no JSON value`],
        [`${json.slice(0, -1)},${json.slice(-1)}`, `the comma at line 1, column ${end} comes before the end of an`],
        [json + json, `more follows at line 1, column ${end + 1}, after the end of the document`],
        [json.slice(0, -1), `it ends at line 1, column ${end}, inside an`],
        [json.slice(0, place + 5), `it ends at line 1, column ${place + 6}, inside a text`],
      ] as const) {
        const answer = await send(way, aFailure(), body);
        expect(answer.status, answer.body).to.equal(400);
        expect(detailsOf(answer)).to.contain(what);
        expect(answer.body).to.not.contain('hunter');
      }
      expect(await suite.stored()).to.deep.equal([]);
    });
  }

  for (const way of jsonWays) {
    it(`${way.name} ${way.ignoredAt === undefined ? 'ignores other fields' : 'names the fields that it ignores'}`, async () => {
      const at = way.ignoredAt;
      for (const [more, names] of [
        [{}, undefined],
        [{ error_descriptionn: 'x', 'a/b, ~é\r\n': 1 }, `${at}/error_descriptionn, ${at}/a~1b%2C%20~0%C3%A9%0D%0A`],
        [{ error_description_detail: 'x' }, `${at}/error_description_detail`],
        [{ error_description_detail: 'out of paper' }, undefined],
      ] as const) {
        const failure = aFailure({ more });
        const answer = await send(way, failure);
        expect(answer.status, answer.body).to.equal(way.receipt);
        expect(answer.headers[ignored]).to.equal(at === undefined ? undefined : names);
        expect(await textsOf(failure)).to.deep.equal(['out of paper']);
      }
    });
  }

  it('needs room for what comes out of a body, while it comes', async () => {
    using connections = new DisposableStack();
    const largest = 2 * 1_024 * 1_024;
    const [head, body] = [gzipHead('/v1/register/bulk/'), gzipSync(Buffer.alloc(largest - 1_000, ' '))];
    const another = () =>
      suite.ingest.client.register(body, { 'content-encoding': 'gzip' }, undefined, '/v1/register/bulk/');
    for (let i = 0; i < bodyRoomBytes.ofOne / largest; i++) {
      const connection = connections.use(await RawConnection.open(suite.ingest.port));
      // Its end does not come.
      connection.send(Buffer.concat([Buffer.from(head), Buffer.from(`${body.length.toString(16)}\r\n`), body]));
    }
    const isAnswered = (status: number) => async () => ((await another()).status === status ? true : undefined);
    await until('no more room', isAnswered(429));
    connections.dispose();
    await until('room again', isAnswered(400));
  });

  it('records the texts of any event, however they are sent', async () => {
    const texts = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 300 })
      .map((text) => text.toWellFormed().replaceAll(/[\0\uFEFF]/g, '-'));
    const sent = fc.record({
      way: fc.constantFrom(...waysIn),
      text: texts,
      execution: texts.map((text) => text.slice(0, 100).toWellFormed()),
      encoding: fc.constantFrom(...encodings),
      start: fc.constantFrom('', mark),
      lengths: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(sent, async ({ way, text, execution, encoding, start, lengths }) => {
        await suite.redis.command('flushall');
        const failure = aFailure({ text, execution: execution.startsWith('.') ? `x${execution}` : execution });
        const bytes = Buffer.concat([Buffer.from(start), Buffer.from(way.body(failure))]);
        const answer = await send(way, failure, inPieces(encoding.encode(bytes), lengths), encoding.name);
        expect(answer.status, answer.body).to.equal(way.receipt);
        expect(await textsOf(failure)).to.deep.equal([text]);
      }),
      { numRuns: 40 },
    );
  });
});

/** The head of a request whose body comes in chunks. */
function gzipHead(path: string): string {
  const headers = ['Host: x', 'X-Forwarded-Proto: https', `Token: ${token}`, 'Content-Type: application/json'];
  const lines = [`POST ${path} HTTP/1.1`, ...headers, 'Content-Encoding: gzip', 'Transfer-Encoding: chunked', '', ''];
  return lines.join('\r\n');
}
