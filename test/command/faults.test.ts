import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { secretManifest } from '../../internal/cluster/tokens/manifest.ts';
import { CertificateFiles, createKeyPair } from '../support/certificate.ts';
import { environmentWith, outcomeOf, reported, runledger, type Outcome } from '../support/exec.ts';
import { failureOf } from '../support/failure.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { SmallDisk } from '../support/fault/small-disk.ts';
import { freePort } from '../support/free-port.ts';
import { durable, RedisServer } from '../support/redis-server.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { storedEvents } from '../support/suite-ingest.ts';
import { until } from '../support/until.ts';

/** EXEC_RUNS=1000 is the whole: six minutes on a busy machine of two cores. */
const runCount = Number(process.env['EXEC_RUNS'] ?? 100);
const atOnce = 4;
const token = 'exec-token-of-acme-0123456789';

/** Commands, and what each does without `exec`. */
const scripts = [
  'echo out; echo err >&2',
  'echo out; exit 7',
  'seq 1 500; seq 1 3000 >&2; exit 1',
  'sleep 0.2; echo slept',
  'echo dying >&2; kill -TERM $$; sleep 5',
];

describe('runledger exec under faults', () => {
  const cleanup = new AsyncDisposableStack();
  let folder: string;
  let redis: RedisServer;
  let disk: SmallDisk;
  let ingest: RunledgerProcess;
  let start: () => Promise<void>;

  before(async function prepare() {
    folder = await mkdtemp(join(tmpdir(), 'runledger-exec-'));
    cleanup.defer(() => rm(folder, { recursive: true, force: true }));
    const mounted = await SmallDisk.mount(join(folder, 'disk'), undefined);
    if (mounted === undefined) {
      console.log('      skipped: this process may not mount a file system');
      this.skip();
    }
    disk = mounted;
    cleanup.defer(() => disk.unmount());
    redis = await RedisServer.start(durable);
    cleanup.defer(() => redis.stop());
    const files = cleanup.use(await CertificateFiles.create(await createKeyPair('runledger.example')));
    const tokens = join(folder, 'tokens.yaml');
    await writeFile(tokens, secretManifest({ organization: 'acme', entries: { 'token-1': token } }));
    const ports = {
      PORT: String(await freePort()),
      HTTPS_PORT: String(await freePort()),
      OPS_PORT: String(await freePort()),
    };
    const settings = { ...ports, ...files.settings, TOKENS_FILE: tokens, REDIS_URL: redis.url, LOG_LEVEL: 'error' };
    start = async () => {
      ingest = new RunledgerProcess('ingest', settings);
      await ingest.ready(60_000);
    };
    await start();
    cleanup.defer(async () => void (await ingest.child.kill('SIGKILL')));
    env = environmentWith({
      RUNLEDGER_URL: `https://localhost:${ports.HTTPS_PORT}`,
      RUNLEDGER_TOKEN: token,
      RUNLEDGER_CA_FILE: files.settings.TLS_CERT_FILE,
      RUNLEDGER_SPOOL: join(disk.folder, 'spool'),
    });
  });
  after(() => cleanup.disposeAsync());

  let env: NodeJS.ProcessEnv;

  it(`${runCount} runs: unchanged commands, and each that could be spooled is recorded once`, async () => {
    const random = new Random(seedOfRun());
    const expected = await Promise.all(scripts.map((script) => outcomeOf(['sh', '-c', script], env)));
    const spool = env['RUNLEDGER_SPOOL'] ?? '';
    await mkdir(spool, { recursive: true, mode: 0o700 });
    let isFull = false;
    let next = 0;
    let finished = 0;
    const spoolable: { name: string; kinds: string }[] = [];
    const changed: { name: string; found: Outcome }[] = [];

    const work = async (): Promise<void> => {
      for (let index = next++; index < runCount; index = next++) {
        const [name, which] = [`run ${index}`, index % scripts.length];
        let wasFull = isFull;
        const found = await outcomeOf(reported(['sh', '-c', scripts[which] ?? ''], ['--execution', name]), env);
        wasFull ||= isFull;
        finished += 1;
        if (JSON.stringify(found) !== JSON.stringify(expected[which])) changed.push({ name, found });
        if (!wasFull) spoolable.push({ name, kinds: found.code === 0 ? 'END START' : 'END ERROR START' });
      }
    };
    const faults = async (): Promise<void> => {
      const isOver = (): boolean => finished >= runCount;
      while (!isOver()) {
        await sleep(300 + random.int(0, 1_500));
        await ingest.child.kill('SIGKILL');
        await sleep(random.int(0, 1_500));
        await start();
      }
    };
    const fullDisk = async (): Promise<void> => {
      await until('a third has run', () => finished > runCount / 3, 600_000);
      isFull = true;
      await disk.fill();
      const last = Math.min(finished + runCount / 10, runCount - 1);
      const isOver = (): boolean => finished > last;
      while (!isOver()) {
        // Takes the room that delivered events leave, and finds that there is no more.
        const failure = await failureOf(appendFile(join(disk.folder, 'other'), Buffer.alloc(32 * 1024 ** 2)));
        expect(failure).to.have.property('code', 'ENOSPC');
        await sleep(50);
      }
      await disk.makeRoom();
      isFull = false;
    };
    await Promise.all([...Array.from({ length: atOnce }, work), faults(), fullDisk()]);

    expect(changed).to.deep.equal([]);
    await until('the spool is empty', async () => (await outcomeOf(runledger('flush'), env)).code === 0, 60_000);
    expect((await readdir(spool, { recursive: true })).filter((name) => name.includes('.json'))).to.deep.equal([]);
    const stored = Map.groupBy(unique(await storedEvents(redis.url)), ({ executionId }) => executionId);
    const kindsOf = (name: string): string =>
      (stored.get(name) ?? [])
        .map(({ kind }) => kind)
        .toSorted()
        .join(' ');
    expect(spoolable.filter(({ name, kinds }) => kindsOf(name) !== kinds)).to.deep.equal([]);
    const doubled = [...stored.values()].filter(
      (events) => new Set(events.map(({ kind }) => kind)).size < events.length,
    );
    expect(doubled).to.deep.equal([]);
    console.log(`      ${spoolable.length} of ${runCount} could be spooled; seed ${seedOfRun()}`);
  }).timeout(1_800_000);
});

/** The store keeps one of the events with the same id: an event may be sent again. */
function unique<T extends { id: string }>(events: readonly T[]): T[] {
  return [...new Map(events.map((event) => [event.id, event])).values()];
}
