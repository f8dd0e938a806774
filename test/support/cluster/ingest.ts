import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient, type Answer } from '../api-client.ts';
import { Child } from '../child.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import type { Tenancy } from './tenancy.ts';

const main = join(import.meta.dirname, '../../../cmd/ingest/main.ts');

/** The real ingest process, with the environment and the account that a pod of the chart has. */
export class Ingest {
  /** Calls the API as a proxy that ends TLS does. */
  readonly api: ApiClient;
  readonly #ops: ApiClient;
  readonly #child: Child;

  private constructor(child: Child, port: number, opsPort: number) {
    this.#child = child;
    this.api = new ApiClient(`http://127.0.0.1:${port}`, { 'x-forwarded-proto': 'https' });
    this.#ops = new ApiClient(`http://127.0.0.1:${opsPort}`);
  }

  /**
   * Resolves when the process exists; `ready` tells when it serves. `env` is added to its
   * environment.
   */
  static async start(
    tenancy: Tenancy,
    apiServerUrl: string,
    redisUrl: string,
    env: NodeJS.ProcessEnv = {},
  ): Promise<Ingest> {
    const [port, opsPort] = [await freePort(), await freePort()];
    const apiServer = new URL(apiServerUrl);
    const child = new Child(process.execPath, [main], {
      env: {
        ...env,
        PORT: String(port),
        OPS_PORT: String(opsPort),
        PUBLIC_URL: 'https://runledger.example',
        TRUST_PROXY: 'true',
        REDIS_URL: redisUrl,
        DRAIN_DELAY_MS: '0',
        TOKENS_NAMESPACE: tenancy.tokens,
        TOKENS_ACCOUNT_DIR: tenancy.accountFolder,
        KUBERNETES_SERVICE_HOST: apiServer.hostname,
        KUBERNETES_SERVICE_PORT: apiServer.port,
      },
    });
    return new Ingest(child, port, opsPort);
  }

  /** Resolves once the readiness probe says yes. Rejects with the log when it does not in time. */
  async ready(timeoutMs: number): Promise<void> {
    try {
      await until('ingest ready', async () => (await this.readiness()) === 200, timeoutMs);
    } catch (error) {
      throw new Error(`ingest does not become ready:\n${this.#child.output.slice(-20).join('\n')}`, { cause: error });
    }
  }

  /** The status of the readiness probe; 0 while the process does not listen. */
  async readiness(): Promise<number> {
    const answer = await this.#ops.send({ path: '/readyz' }).catch(() => undefined);
    return answer?.status ?? 0;
  }

  ping(token: string): Promise<Answer> {
    return this.api.send({ path: '/v1/ping/', headers: { token } });
  }

  /** The organization that a token opens now, or the status when it opens none. */
  async whose(token: string): Promise<string | number> {
    const answer = await this.ping(token);
    return answer.status === 200 ? answer.json<{ organization: string }>().organization : answer.status;
  }

  /** Resident memory in MB (10^6 bytes): now, and the most it ever was. */
  async residentMb(): Promise<{ now: number; most: number }> {
    const status = await readFile(`/proc/${this.#child.process.pid}/status`, 'utf8');
    const kilobytes = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]);
    return { now: (kilobytes('VmRSS') * 1024) / 1e6, most: (kilobytes('VmHWM') * 1024) / 1e6 };
  }

  /** Stops gracefully; resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.api.close();
    this.#ops.close();
    return this.#child.kill('SIGTERM');
  }
}
