import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createToken, secretManifest, tokenEntry } from '../../internal/cluster/tokens/manifest.ts';
import { Child } from '../support/child.ts';
import { eventBody } from '../support/events.ts';
import { freePort } from '../support/free-port.ts';
import { RedisServer } from '../support/redis-server.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { until } from '../support/until.ts';

/** Each state of Redis lasts this long, in ms: several readiness probes. */
const outageMs = 10_000;

/** The status and the headers that callers rely on. */
interface Answer {
  status: number;
  type: string | null;
  retryAfter: string | null;
}

const receipt: Answer = { status: 201, type: 'application/json; charset=utf-8', retryAfter: null };
const rejection: Answer = { status: 503, type: 'application/problem+json', retryAfter: '1' };

/**
 * Two ingest processes behind a proxy that, as a Service does, sends requests only to those whose
 * `/readyz` answers 200. Without any, the proxy answers 503 with an empty body.
 */
describe('ingest behind a Service', function () {
  this.timeout(180_000);
  const addresses = ['127.0.0.2', '127.0.0.3'];
  const token = createToken();
  let folder: string;
  let redis: RedisServer;
  let pods: RunledgerProcess[];
  let proxy: Child;
  let url: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-service-'));
    redis = await RedisServer.start();
    const [port, opsPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
    const tokens = join(folder, 'tokens.yaml');
    await writeFile(tokens, secretManifest({ organization: 'acme', entries: tokenEntry(token) }));
    const settings = { PORT: String(port), OPS_PORT: String(opsPort), TOKENS_FILE: tokens, REDIS_URL: redis.url };
    pods = addresses.map((address) => new RunledgerProcess('ingest', { ...settings, LISTEN_ADDRESS: address }));
    for (const pod of pods) await pod.ready(60_000);
    const upstreams = addresses.map((address) => `${address}:${port}`).join(' ');
    const caddyfile = `{
      admin off
      auto_https off
    }
    :${proxyPort} {
      reverse_proxy ${upstreams} {
        header_up X-Forwarded-Proto https
        health_uri /readyz
        health_port ${opsPort}
        health_interval 500ms
        health_timeout 10s
        lb_policy round_robin
      }
    }`;
    const file = join(folder, 'Caddyfile');
    await writeFile(file, caddyfile);
    const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    proxy = new Child('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env });
    await proxy.line(/serving initial configuration/);
    url = `http://127.0.0.1:${proxyPort}/v1/register/`;
    await until('the proxy sends requests', async () => (await register()).status === 201);
  });

  after(async () => {
    await proxy?.kill('SIGKILL');
    await Promise.all((pods ?? []).map(({ child }) => child.kill('SIGKILL')));
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function register(): Promise<Answer> {
    const headers = { token, 'Content-Type': 'application/json' };
    const {
      status,
      headers: said,
      ...answer
    } = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(eventBody()),
      signal: AbortSignal.timeout(10_000),
    }).then(async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }));
    if (status === 503) expect(answer.text).to.contain('https://runledger.dev/problems/unavailable');
    return { status, type: said.get('content-type'), retryAfter: said.get('retry-after') };
  }

  const answered503 = async (): Promise<number> => {
    const pages = await Promise.all(pods.map((pod) => pod.metrics()));
    return pages
      .flatMap((page) => [...page.matchAll(/^runledger_http_requests_total\{.*status="503".*\} (\d+)$/gm)])
      .reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it('answers 503 itself while Redis is frozen and down; no pod leaves, and the metrics count each answer', async () => {
    let rejected = 0;
    const throughout = async (what: string): Promise<void> => {
      await until(`503 while Redis is ${what}`, async () => {
        const { status } = await register();
        if (status === 503) rejected += 1;
        return status === 503;
      });
      const end = performance.now() + outageMs;
      while (performance.now() < end) {
        expect(await register(), what).to.deep.equal(rejection);
        rejected += 1;
        // 0 is no answer within a second, as on a busy machine.
        const ready = await until('readiness', async () => {
          const statuses = await Promise.all(pods.map((pod) => pod.readiness()));
          return !statuses.includes(0) && statuses;
        });
        expect(ready, what).to.deep.equal([200, 200]);
        await sleep(200);
      }
    };
    redis.signal('SIGSTOP');
    await throughout('frozen');
    redis.signal('SIGCONT');
    await redis.kill();
    await throughout('down');
    expect(await answered503()).to.equal(rejected);

    await redis.startAgain();
    const again = await until('receipts again', async () => {
      const answer = await register();
      return answer.status === 201 && answer;
    });
    expect(again).to.deep.equal(receipt);
  });
});
