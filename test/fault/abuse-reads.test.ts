import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { secretManifest } from '../../internal/cluster/tokens/manifest.ts';
import { ApiClient } from '../support/api-client.ts';
import { Cgroup } from '../support/cgroup.ts';
import { Child } from '../support/child.ts';
import { readToken } from '../support/console.ts';
import { freePort } from '../support/free-port.ts';
import { PostgresServer, query } from '../support/postgres-server.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { migrate } from '../support/store.ts';
import { StreamReader } from '../support/stream-reader.ts';

const hostileTokens = Array.from({ length: 16 }, (_, index) => `read-token-${index}-of-hostile`);
const automation = '0190a0b0-0000-7000-8000-000000000001';
const pages = ['/v1/events/?limit=500', `/v1/executions/${automation}/large/events/?limit=500`];
const exports = ['parquet', 'ndjson'].map((format) => `/v1/export/events/?format=${format}`);

/** What one organization reads, and the answers that it may get. */
const attacks: Record<string, { paths: string[]; expected: string[] }> = {
  'pages of large texts': { paths: pages, expected: ['200', '429'] },
  'exports of large texts': { paths: exports, expected: ['200', '429'] },
  'streams that resume': { paths: ['/v1/stream/'], expected: ['200', '429', '503'] },
};

describe('abuse of memory by readers', () => {
  let folder: string;
  let postgres: PostgresServer;
  let memory: Cgroup | undefined;
  let console: RunledgerProcess;
  let port: number;
  let lastEventId: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-reads-'));
    postgres = await PostgresServer.start();
    const url = postgres.url();
    await migrate(url);
    const tokensFile = join(folder, 'tokens.yaml');
    const entries = Object.fromEntries(
      [...hostileTokens, readToken('hostile')].map((token, index) => [`read-${index}`, token]),
    );
    const secrets = [
      secretManifest({ organization: 'acme', entries: { 'read-1': readToken() } }),
      secretManifest({ organization: 'hostile', entries }),
    ];
    await writeFile(tokensFile, secrets.join('---\n'));
    memory = await Cgroup.create(limitOfConsole());
    port = await freePort();
    const settings = {
      PORT: String(port),
      OPS_PORT: String(await freePort()),
      CONSOLE_DATABASE_URL: url,
      TOKENS_FILE: tokensFile,
      LOG_LEVEL: 'error',
      READ_RATE: '1000',
    };
    console = new RunledgerProcess('console', settings, { memory });
    await console.ready();
    using stream = await StreamReader.open(port, { organization: 'hostile' });
    lastEventId = stream.lastEventId;
    await storeEvents(url, 'hostile', 'large', {
      count: 2_000,
      text: `repeat('x', 9999) || '✓' || repeat('x', 90000)`,
    });
    await storeEvents(url, 'acme', 'small', { count: 50, text: `'The remote system did not answer'` });
  });

  after(async () => {
    await console.child.kill('SIGKILL');
    await postgres.stop();
    await memory?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [kind, { paths, expected }] of Object.entries(attacks)) {
    it(`${kind}: another organization gets its pages, and the console stays below the limit of the chart`, async () => {
      const script = join(import.meta.dirname, '../support/fault/hostile-reader.ts');
      const args = [String(port), hostileTokens.join(','), paths.join(','), lastEventId];
      const hostile = new Child(process.execPath, [script, ...args]);
      await hostile.line(/^\{"/);
      const times = await readQuietly(port, 6_000);
      await hostile.line(/^\{".+":/);
      const answers = JSON.parse(hostile.output.at(-1) ?? '{}') as Record<string, number>;
      await hostile.kill('SIGKILL');
      const [slowest, peak] = [Math.round(Math.max(...times)), Math.round(((await memory?.peak()) ?? 0) / 1_048_576)];
      globalThis.console.log(`      ${JSON.stringify(answers)}; slowest quiet page ${slowest} ms, peak ${peak} MiB`);
      expect(expected).to.include.members(Object.keys(answers));
      expect(answers['200'], 'pages of the hostile one').to.be.above(0);
      expect(console.child.alive, 'the console runs').to.equal(true);
      expect(await memory?.kills()).to.be.oneOf([0, undefined]);
      expect(await console.readiness()).to.equal(200);
    });
  }
});

/** Reads one page after another, for so long in ms. Rejects for any answer that is not 200. */
async function readQuietly(port: number, ms: number): Promise<number[]> {
  const client = new ApiClient(`http://127.0.0.1:${port}`, { token: readToken(), 'x-forwarded-proto': 'https' });
  const times: number[] = [];
  const end = performance.now() + ms;
  for (let begun = performance.now(); begun < end; begun = performance.now()) {
    const { status, body } = await client.send({ path: '/v1/events/?limit=50' });
    if (status !== 200) throw new Error(`a quiet reader was answered ${status}: ${body}`);
    times.push(performance.now() - begun);
  }
  client.close();
  return times;
}

async function storeEvents(
  url: string,
  organization: string,
  execution: string,
  { count, text }: { count: number; text: string },
): Promise<void> {
  await query(
    url,
    `insert into events (organization, created_at, id, automation_id, execution_id, kind, description, error_id, error_description)
     select '${organization}', date_trunc('milliseconds', now()) - number * interval '1 ms', gen_random_uuid(), '${automation}',
       '${execution}', 'ERROR', '', '', ${text} from generate_series(1, ${count}) as number`,
  );
  await query(
    url,
    `insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, start_count,
       event_count, warning_count, error_count, end_count)
     select organization, automation_id, execution_id, min(created_at), max(created_at), 0, 0, 0, count(*), 0
     from events where organization = '${organization}' group by organization, automation_id, execution_id`,
  );
}

/** The limit of memory of a console pod, in bytes. */
function limitOfConsole(): number {
  const text = readFileSync(join(import.meta.dirname, '../../charts/runledger/values.yaml'), 'utf8');
  const values = parse(text) as { console: { resources: { limits: { memory: string } } } };
  return Number.parseInt(values.console.resources.limits.memory, 10) * 1_024 * 1_024;
}
