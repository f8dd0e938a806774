import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { secretManifest } from '../../../internal/tokens/manifest.ts';
import { ApiClient } from '../api-client.ts';
import { freePort } from '../free-port.ts';
import { RunledgerProcess } from '../runledger-process.ts';

const token = 'observed-token-of-acme-0123456789';

/** Ingest and worker as processes of their own, as a cluster runs them. */
export class RealProcesses {
  readonly client: ApiClient;
  readonly ingestOps: number;
  readonly workerOps: number;
  readonly #folder: string;
  readonly #processes: { ingest: RunledgerProcess; worker: RunledgerProcess };

  private constructor(folder: string, ports: number[], settings: NodeJS.ProcessEnv) {
    const [port = 0, ingestOps = 0, workerOps = 0] = ports;
    this.client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
    this.ingestOps = ingestOps;
    this.workerOps = workerOps;
    this.#folder = folder;
    const common = { LOG_LEVEL: 'info', SHUTDOWN_TIMEOUT_MS: '5000', ...settings };
    const forIngest = { PORT: String(port), OPS_PORT: String(ingestOps), TOKENS_FILE: join(folder, 'tokens.yaml') };
    const forWorker = { OPS_PORT: String(workerOps), MAINTENANCE_INTERVAL_MS: '1000' };
    this.#processes = {
      ingest: new RunledgerProcess('ingest', { ...common, ...forIngest }),
      worker: new RunledgerProcess('worker', { ...common, ...forWorker }),
    };
  }

  /** Resolves when both are ready. On request a token that is too short is in the file as well. */
  static async start(settings: Record<string, string>, withShortToken = false): Promise<RealProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-observed-'));
    const good = secretManifest({ organization: 'acme', entries: { token } });
    const short = secretManifest({ organization: 'umbrella', entries: { token: 'short' } });
    await writeFile(join(folder, 'tokens.yaml'), withShortToken ? `${good}---\n${short}` : good);
    await promisify(execFile)(process.execPath, ['cmd/migrate/main.ts'], { env: { ...process.env, ...settings } });
    const ports = [await freePort(), await freePort(), await freePort()];
    const processes = new RealProcesses(folder, ports, settings);
    await Promise.all(Object.values(processes.#processes).map((process) => process.ready()));
    return processes;
  }

  /** What Prometheus reads at one of the ports. */
  metrics(port: number): Promise<string> {
    const { ingest, worker } = this.#processes;
    return (port === this.ingestOps ? ingest : worker).metrics();
  }

  async stop(): Promise<void> {
    this.client.close();
    await Promise.all(Object.values(this.#processes).map(({ child }) => child.kill('SIGKILL')));
    await rm(this.#folder, { recursive: true, force: true });
  }
}
