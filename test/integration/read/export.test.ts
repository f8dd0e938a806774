import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Child } from '../../support/child.ts';
import { exportFormats } from '../../../internal/record/formats/formats.ts';
import { createQueries } from '../../../internal/record/queries.ts';
import type { StoredEvent } from '../../../internal/record/stored-event.ts';
import type { Authentication } from '../../../internal/cluster/tokens/token-source.ts';
import { readToken, startConsole } from '../../support/console.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { lockRecord, noon, queriesWaiting, readAll, suiteConsole } from '../../support/reading.ts';
import { until } from '../../support/until.ts';

const path = '/v1/export/events?to=2026-11-21T00:00:00Z';

describe('GET /v1/export/events', () => {
  const suite = suiteConsole();
  const headers = { token: readToken(), 'x-forwarded-proto': 'https' };
  const opened = async (port: number, query = '', more = {}): Promise<IncomingMessage> => {
    const sent = request({ port, path: `${path}${query}`, headers: { ...headers, ...more }, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  };
  const exported = async (query = '', headers = {}): Promise<string> => {
    const answer = await suite.client.send({ path: `${path}${query}`, headers });
    expect(answer.status, answer.body).to.equal(200);
    return answer.body;
  };

  it('writes every event of the filters, oldest first, one JSON object a line', async () => {
    await suite.store({ description: 'line\nbreak' }, { kind: 'ERROR', errorId: 'E' }, { executionId: 'run 2' });
    const events = (await exported())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const listed = (await readAll(suite.client, '/v1/events/')).toReversed();
    // Names change: none is there.
    expect(events).to.deep.equal(listed.map(({ automation_name: _name, ...event }) => event));
    const failed = (await exported('&kind=ERROR')).trimEnd().split('\n');
    expect(failed).to.have.lengthOf(1);
    expect(await exported('&execution_id=none')).to.equal('');
    expect((await exported('&execution_id=run+2')).split('\n')).to.have.lengthOf(2);
    const answer = await suite.client.send({ path, headers: { token: readToken('globex') } });
    expect(answer.headers['content-type']).to.equal('application/x-ndjson');
    expect(answer.body).to.equal('');
  });

  it('writes when an event happened, if its caller said so', async () => {
    const createdAt = Date.parse('2026-11-20T12:00:00Z');
    await suite.store({ createdAt, occurredAt: createdAt - 1_500 });
    expect(JSON.parse(await exported())).to.include({
      created_at: '2026-11-20T12:00:00.000Z',
      occurred_at: '2026-11-20T11:59:58.500Z',
    });
    const [, row] = (await exported('&format=csv')).split('\r\n');
    expect(row?.split(',').at(-1)).to.equal('2026-11-20T11:59:58.500Z');
  });

  it('has an event that happened later than it was accepted, also if that is the oldest', async () => {
    const createdAt = Date.parse('2026-11-19T23:58:00Z');
    await suite.store({ createdAt, occurredAt: createdAt + 4 * 60_000 });
    expect(JSON.parse(await exported())).to.include({ created_at: '2026-11-19T23:58:00.000Z' });
    expect(await readAll(suite.client, '/v1/events/?to=2026-11-21T00:00:00Z')).to.have.lengthOf(1);
  });

  it('writes CSV by Accept or format, without formulas', async () => {
    const texts = ['=1+1', '+1', '-1', '@A1', '\tx', '\rx', 'a "b", c', 'plain'];
    await suite.store(...texts.map((description) => ({ description, executionId: '=cmd' })));
    const csv = await exported('&format=csv');
    expect(await exported('', { accept: 'text/csv' })).to.equal(csv);
    const [head, ...rows] = csv.split('\r\n');
    expect(head).to.equal(
      'created_at,id,automation,execution_id,type_of_event,description,error_id,error_description_detail,salt,texts_digest,occurred_at',
    );
    const cells = rows.slice(0, -1).map((row) => row.split(',').slice(3).join(','));
    expect(cells).to.deep.equal(
      ["'=1+1", "'+1", "'-1", "'@A1", "'\tx", '"\'\rx"', '"a ""b"", c"', 'plain'].map(
        (cell) => `'=cmd,EVENT,${cell},,,,,`,
      ),
    );
    expect((await suite.client.send({ method: 'HEAD', path: `${path}&format=csv` })).headers['content-type']).to.match(
      /^text\/csv/,
    );
  });

  it('begins CSV with a byte order mark where asked, and no other format', async () => {
    await suite.store({ description: 'café' }, { description: 'later', createdAt: noon + 1 });
    const bytes = async (query: string) =>
      Buffer.concat((await (await opened(suite.console.port, query)).toArray()) as Buffer[]);
    const plain = await bytes('&format=csv');
    expect(await bytes('&format=csv&bom=false')).to.deep.equal(plain);
    expect(await bytes('&format=csv&bom=true')).to.deep.equal(Buffer.concat([Buffer.from('efbbbf', 'hex'), plain]));
    const [created_at, id] = plain.toString().split('\r\n')[1]?.split(',') ?? [];
    const rest = await bytes(`&format=csv&bom=true&after=${created_at},${id}`);
    expect(rest.toString()).to.match(/^2026/);
    for (const query of ['&bom=true', '&format=parquet&bom=true', '&format=csv&bom=yes']) {
      const answer = await suite.client.send({ path: `${path}${query}` });
      expect(answer.status, query).to.equal(400);
      expect(answer.json<{ errors: object[] }>().errors[0]).to.include({ parameter: 'bom' });
    }
  });

  it('writes Parquet by Accept or format', async () => {
    await suite.store({ description: 'Ü' }, { kind: 'ERROR' });
    const items: StoredEvent[] = [];
    for await (const page of createQueries(suite.database.db).exportEvents('acme', {}, { limit: 2 }))
      items.push(...page.items);
    const encoder = exportFormats.parquet.begin(false);
    const expected = Buffer.concat([encoder.add(items), encoder.end()].map((piece) => Buffer.from(piece)));
    for (const response of [
      await opened(suite.console.port, '&format=parquet'),
      await opened(suite.console.port, '', { accept: 'application/vnd.apache.parquet' }),
    ]) {
      expect(response.headers['content-type']).to.equal('application/vnd.apache.parquet');
      expect(Buffer.concat((await response.toArray()) as Buffer[])).to.deep.equal(expected);
    }
  });

  it('continues after a cut with the same bytes', async () => {
    await suite.store(
      ...Array.from({ length: 1_203 }, (_, index) => ({
        description: `line ${index}\n`,
        createdAt: noon + (index >> 3),
      })),
    );
    const whole = await exported();
    const rows = (await exported('&format=csv')).split('\r\n');
    for (const cut of [600, 5_000, 100_000, whole.length - 1, whole.length]) {
      const received = whole.slice(0, whole.lastIndexOf('\n', cut - 1) + 1);
      const lines = received.trimEnd().split('\n');
      const { created_at, id } = JSON.parse(lines.at(-1) ?? '') as { created_at: string; id: string };
      expect(received + (await exported(`&after=${created_at},${id}`)), String(cut)).to.equal(whole);
      const rest = await exported(`&format=csv&after=${created_at},${id}`);
      expect(rest).to.equal(rows.slice(lines.length + 1).join('\r\n'));
    }
  });

  it('is complete after a cut, with the script of the examples', async () => {
    const long = 'x'.repeat(1_000);
    await suite.store(...Array.from({ length: 3_000 }, (_, index) => ({ description: `${index} ${long}` })));
    const folder = await mkdtemp(join(tmpdir(), 'runledger-export-'));
    await writeFile(join(folder, '.curlrc'), 'header = "X-Forwarded-Proto: https"\n');
    await using forwarder = await Forwarder.start(suite.console.port);
    const stalled = forwarder.stalledAfter(1_500_000);
    const file = join(folder, 'events.ndjson');
    const console = `http://127.0.0.1:${forwarder.port}`;
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: folder, TOKEN: readToken() };
    const script = new Child('deploy/examples/export.sh', [console, '2026-11-21T00:00:00Z', file], { env });
    await stalled;
    forwarder.reset();

    expect(await script.exited, script.output.join('\n')).to.equal(0);
    expect(forwarder.accepted).to.equal(2);
    expect(await readFile(file, 'utf8')).to.equal(await exported());
    await rm(folder, { recursive: true });
  });

  it('waits for a slow reader, and holds nothing of it after the reader is gone', async () => {
    const long = 'x'.repeat(20_000);
    for (let index = 0; index < 10; index += 1) {
      await suite.store(...Array.from({ length: 100 }, () => ({ errorDescription: long, createdAt: noon + index })));
    }
    const response = await opened(suite.console.port);
    await once(response, 'readable');
    const rows = async (): Promise<number> => {
      const metrics = await suite.console.telemetry.registry.metrics();
      return Number(/runledger_export_rows_total\{.*\} (\d+)/.exec(metrics)?.[1]);
    };
    expect(await rows()).to.be.lessThan(1_000);
    response.destroy();
    await once(response, 'close');
    expect((await suite.client.send({ path: '/v1/events/?limit=1' })).status).to.equal(200);
    expect(await rows()).to.be.lessThan(1_000);
  });

  it('stops after the reader is gone, also when no event matches', async () => {
    await suite.store(...Array.from({ length: 10_100 }, () => ({})));
    await using console = await startConsole(suite.database.url, { READ_CONCURRENCY: '1' });
    const response = await opened(console.port, '&q=nowhere');
    const unlock = await lockRecord(suite.database);
    await queriesWaiting(suite.database, 1);
    response.destroy();
    await until('the console notices', async () => {
      const { status } = await console.client.send({ method: 'HEAD', path });
      return status === 200 ? true : undefined;
    });
    const pages = async (): Promise<number> => {
      const metrics = await console.telemetry.registry.metrics();
      return Number(/_query_seconds_count\{.*exportEvents.*\} (\d+)/.exec(metrics)?.[1]);
    };
    const before = await pages();
    await unlock();
    // Exports take turns, and each of these has two: a page, and the end.
    for (let turn = 0; turn < 4; turn += 1) await console.client.send({ path: `${path}&execution_id=none` });
    expect(await pages()).to.equal(before + 1 + 8);
  });

  it('breaks off when the token is no longer valid', async () => {
    await suite.store(...Array.from({ length: 2_000 }, () => ({ errorDescription: 'x'.repeat(10_000) })));
    let answer: Authentication = { status: 'known', organization: 'acme', scope: 'read', tokenId: 'id' };
    await using console = await startConsole(suite.database.url, {}, () => answer);
    for (const query of ['', '&format=csv']) {
      answer = { status: 'known', organization: 'acme', scope: 'read', tokenId: 'id' };
      const response = await opened(console.port, query);
      await once(response, 'readable');
      answer = { status: 'unknown' };
      const ended = await response.toArray().then(
        () => 'complete',
        (error: unknown) => String(error),
      );
      expect(ended).to.contain('aborted');
    }
  });

  it('names malformed parameters', async () => {
    const bad = await suite.client.send({ path: '/v1/export/events/?format=xml&after=7&limit=5' });
    expect(bad.json<{ errors: { parameter: string }[] }>().errors.map(({ parameter }) => parameter)).to.deep.equal([
      'format',
      'after',
      'limit',
    ]);
  });
});
