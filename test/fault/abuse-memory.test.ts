import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { secretManifest } from '../../internal/cluster/tokens/manifest.ts';
import { Cgroup } from '../support/cgroup.ts';
import { Child } from '../support/child.ts';
import { p99OfGoodClients, slowdown } from '../support/fault/latency.ts';
import { organization, token } from '../support/fault/tokens.ts';
import { freePort } from '../support/free-port.ts';
import { RedisServer } from '../support/redis-server.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';

const hostileToken = 'fault-token-of-hostile-0123456789';

/** What one organization sends, and the answers that it may get. */
const attacks: Record<string, string[]> = {
  'small tokens': ['200', '429', '503', '408'],
  'small tokens, cut': ['429', '503', 'cut'],
  'equal characters': ['413', '429'],
  'two bytes a character': ['201', '429', '503'],
  'many values': ['201', '429', '503'],
  'many lines': ['400', '429'],
};

describe('abuse of memory', () => {
  let folder: string;
  let redis: RedisServer;
  let memory: Cgroup | undefined;
  let ingest: RunledgerProcess;
  let port: number;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-abuse-'));
    const tokensFile = join(folder, 'tokens.yaml');
    const secrets = [
      secretManifest({ organization, entries: { 'token-1': token } }),
      secretManifest({ organization: 'hostile', entries: { 'token-1': hostileToken } }),
    ];
    await writeFile(tokensFile, secrets.join('---\n'));
    redis = await RedisServer.start();
    memory = await Cgroup.create(limitOfIngest());
    port = await freePort();
    const settings = {
      PORT: String(port),
      OPS_PORT: String(await freePort()),
      REDIS_URL: redis.url,
      TOKENS_FILE: tokensFile,
      LOG_LEVEL: 'error',
    };
    ingest = new RunledgerProcess('ingest', settings, { memory });
    await ingest.ready();
  });

  after(async () => {
    await ingest.child.kill('SIGKILL');
    await redis.stop();
    await memory?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function attack(kind: string): Promise<Child> {
    const script = join(import.meta.dirname, '../support/fault/hostile.ts');
    const child = new Child(process.execPath, [script, String(port), hostileToken, kind]);
    await child.line(/^\{"/);
    return child;
  }

  for (const [kind, expected] of Object.entries(attacks)) {
    it(`${kind}: another organization gets its 201s, and ingest stays below the limit of the chart`, async () => {
      const hostile = await attack(kind);
      // It rejects for any other answer.
      await p99OfGoodClients(port, 4_000);
      expect(await ingest.readiness()).to.equal(200);
      await hostile.line(/^\{".+":/);
      const answers = JSON.parse(hostile.output.at(-1) ?? '{}') as Record<string, number>;
      await hostile.kill('SIGKILL');
      expect(expected).to.include.members(Object.keys(answers));
      expect(ingest.child.alive, 'ingest runs').to.equal(true);
      expect(await memory?.kills()).to.be.oneOf([0, undefined]);
      expect(highWater(ingest)).to.be.below(limitOfIngest() + sharedBytes);
      await redis.command('flushall');
    });
  }

  it('60 MiB of small tokens, 24 at once, slow good clients by no more than three times', async () => {
    const ratio = await slowdown(port, 3, async () => {
      const hostile = await attack('small tokens');
      return () => void hostile.process.kill('SIGKILL');
    });
    expect(ratio).to.be.below(3);
  });
});

/** Pages of Node's program, which processes share: no control group counts them twice. */
const sharedBytes = 96 * 1_024 * 1_024;

/** The limit of memory of an ingest pod, in bytes. */
function limitOfIngest(): number {
  const text = readFileSync(join(import.meta.dirname, '../../charts/runledger/values.yaml'), 'utf8');
  const values = parse(text) as { ingest: { resources: { limits: { memory: string } } } };
  return Number.parseInt(values.ingest.resources.limits.memory, 10) * 1_024 * 1_024;
}

/** Most memory that a process has had, in bytes. */
function highWater({ child }: RunledgerProcess): number {
  const status = readFileSync(`/proc/${child.process.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) * 1_024;
}
