import { readFile } from 'node:fs/promises';
import { ApiClient, type Answer } from '../api-client.ts';
import { Callers } from '../callers.ts';
import { freePort } from '../free-port.ts';
import { RunledgerProcess } from '../runledger-process.ts';
import type { Tenancy } from './tenancy.ts';

/** The real ingest process, with the environment and the account that a pod of the chart has. */
export class Ingest extends RunledgerProcess {
  /** Calls the API as a proxy that ends TLS does. */
  readonly api: ApiClient;

  private constructor(settings: NodeJS.ProcessEnv) {
    super('ingest', settings);
    this.api = new ApiClient(`http://127.0.0.1:${settings['PORT']}`, { 'x-forwarded-proto': 'https' });
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
    const apiServer = new URL(apiServerUrl);
    return new Ingest({
      ...env,
      PORT: String(await freePort()),
      OPS_PORT: String(await freePort()),
      REDIS_URL: redisUrl,
      DRAIN_DELAY_MS: '0',
      TOKENS_NAMESPACE: tenancy.tokens,
      TOKENS_ACCOUNT_DIR: tenancy.accountFolder,
      KUBERNETES_SERVICE_HOST: apiServer.hostname,
      KUBERNETES_SERVICE_PORT: apiServer.port,
    });
  }

  ping(token: string): Promise<Answer> {
    return this.api.send({ path: '/v1/ping/', headers: { token } });
  }

  /** The organization that a token opens now, or the status when it opens none. */
  async whose(token: string): Promise<string | number> {
    const answer = await this.ping(token);
    return answer.status === 200 ? answer.json<{ organization: string }>().organization : answer.status;
  }

  /** Callers that never pause; half of them register events, half ping. */
  load(token: string, callers: number): Callers {
    return new Callers(this.api, callers, (event, caller) =>
      caller % 2 === 0 ? this.ping(token) : this.api.register(event, { token }),
    );
  }

  /** Resident memory in MB (10^6 bytes): now, and the most it ever was. */
  async residentMb(): Promise<{ now: number; most: number }> {
    const status = await readFile(`/proc/${this.child.process.pid}/status`, 'utf8');
    const megabytes = (field: string): number =>
      (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6;
    return { now: megabytes('VmRSS'), most: megabytes('VmHWM') };
  }

  /** Stops gracefully; resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.api.close();
    return this.child.kill('SIGTERM');
  }
}
