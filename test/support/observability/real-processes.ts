import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { secretManifest } from '../../../internal/cluster/tokens/manifest.ts';
import { ApiClient } from '../api-client.ts';
import { readToken } from '../console.ts';
import { freePort } from '../free-port.ts';
import { RunledgerProcess } from '../runledger-process.ts';

const token = 'observed-token-of-acme-0123456789';

/** A ping key of the same organization. */
export const pingKey = 'observed-ping-key-of-acme-0123456789';

/** The automation that is declared: one failure makes it fail. */
export const declaredAutomation = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

/** Nobody listens at the address of the channel. */
const declarations = `
apiVersion: v1
kind: Namespace
metadata: { name: acme, labels: { runledger.dev/organization: acme } }
---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: invoices, namespace: acme }
spec: { automationId: ${declaredAutomation}, expect: { failures: { consecutive: 1 } } }
---
apiVersion: runledger.dev/v1beta1
kind: Channel
metadata: { name: incidents, namespace: acme }
spec: { type: webhook, url: 'https://127.0.0.1:1/', secretRef: { name: key } }
---
apiVersion: v1
kind: Secret
metadata: { name: key, namespace: acme }
stringData: { key: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
`;

type Name = 'ingest' | 'worker' | 'console' | 'controller';

/**
 * Ingest, worker and, on request, console and controller as processes of their own, as a cluster
 * runs them.
 */
export class RealProcesses {
  readonly client: ApiClient;
  readonly reader: ApiClient;
  readonly consolePort: number;
  /** The ops ports, in the order of the processes. */
  readonly ops: number[];
  readonly #folder: string;
  readonly #processes: RunledgerProcess[];

  private constructor(folder: string, ports: number[], names: Name[], settings: object) {
    const [port = 0, consolePort = 0, ...ops] = ports;
    const throughProxy = { 'x-forwarded-proto': 'https' };
    this.client = new ApiClient(`http://127.0.0.1:${port}`, { token, ...throughProxy });
    this.reader = new ApiClient(`http://127.0.0.1:${consolePort}`, { token: readToken(), ...throughProxy });
    this.consolePort = consolePort;
    this.ops = ops;
    this.#folder = folder;
    const tokens = { TOKENS_FILE: join(folder, 'tokens.yaml') };
    const own = {
      ingest: { PORT: String(port), ...tokens },
      worker: { MAINTENANCE_INTERVAL_MS: '1000' },
      console: { PORT: String(consolePort), ...tokens },
      controller: { AUTOMATIONS_FILE: join(folder, 'automations.yaml'), METRICS_AUTOMATIONS: '10' },
    };
    const common = { LOG_LEVEL: 'info', SHUTDOWN_TIMEOUT_MS: '5000', ...settings };
    this.#processes = names.map(
      (name, index) => new RunledgerProcess(name, { ...common, ...own[name], OPS_PORT: String(ops[index]) }),
    );
  }

  /**
   * Resolves when all are ready. `whole`: with console and controller, and with a token that is too
   * short.
   */
  static async start(settings: Record<string, string>, whole = false): Promise<RealProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-observed-'));
    const good = secretManifest({ organization: 'acme', entries: { token, 'read-1': readToken(), 'ping-1': pingKey } });
    const short = secretManifest({ organization: 'umbrella', entries: { token: 'short' } });
    await writeFile(join(folder, 'tokens.yaml'), whole ? `${good}---\n${short}` : good);
    await promisify(execFile)(process.execPath, ['cmd/admin/main.ts', 'migrate'], {
      env: { ...process.env, ...settings },
    });
    await writeFile(join(folder, 'automations.yaml'), declarations);
    const names = ['ingest', 'worker', ...(whole ? (['console', 'controller'] as const) : [])] as const;
    const ports = [await freePort(), await freePort()];
    for (const _ of names) ports.push(await freePort());
    const processes = new RealProcesses(folder, ports, [...names], settings);
    await Promise.all(processes.#processes.map((process) => process.ready(30_000)));
    return processes;
  }

  /** What Prometheus reads, of each process. */
  metrics(): Promise<string[]> {
    return Promise.all(this.#processes.map((process) => process.metrics()));
  }

  /** The last lines of the logs. */
  get logs(): string[] {
    return this.#processes.flatMap(({ child }) => child.output);
  }

  async stop(): Promise<void> {
    this.client.close();
    this.reader.close();
    await Promise.all(this.#processes.map(({ child }) => child.kill('SIGKILL')));
    await rm(this.#folder, { recursive: true, force: true });
  }
}
