import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../api-client.ts';
import { Child } from '../child.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

const token = 'observed-token-of-acme-0123456789';
const manifest = (name: string, label: string, value: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\n  labels: { runledger.dev/organization: ${label} }\nstringData: { token: ${value} }\n`;

/** Ingest and worker as processes of their own, as a cluster runs them. */
export class RealProcesses {
  readonly client: ApiClient;
  readonly ingestOps: number;
  readonly workerOps: number;
  readonly #folder: string;
  readonly #children: Child[];

  private constructor(ports: { http: number; ingest: number; worker: number }, folder: string, children: Child[]) {
    this.client = new ApiClient(`http://127.0.0.1:${ports.http}`, { token, 'x-forwarded-proto': 'https' });
    this.ingestOps = ports.ingest;
    this.workerOps = ports.worker;
    this.#folder = folder;
    this.#children = children;
  }

  /** Resolves when both are ready. On wish with a token that is refused beside the good one. */
  static async start(settings: Record<string, string>, refusedToken = false): Promise<RealProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-observed-'));
    const tokens = join(folder, 'tokens.yaml');
    await writeFile(
      tokens,
      [manifest('acme', 'acme', token), ...(refusedToken ? [manifest('short', 'umbrella', 'short')] : [])].join(
        '---\n',
      ),
    );
    const ports = { http: await freePort(), ingest: await freePort(), worker: await freePort() };
    const common = { PATH: process.env['PATH'], LOG_LEVEL: 'info', SHUTDOWN_TIMEOUT_MS: '5000', ...settings };
    const run = (name: string, own: Record<string, string>): Child =>
      new Child(process.execPath, [`cmd/${name}/main.ts`], { env: { ...common, ...own } });
    await run('migrate', {}).exited;
    const children = [
      run('ingest', {
        PORT: String(ports.http),
        OPS_PORT: String(ports.ingest),
        PUBLIC_URL: 'https://runledger.example',
        TRUST_PROXY: 'true',
        TOKENS_FILE: tokens,
      }),
      run('worker', { OPS_PORT: String(ports.worker), MAINTENANCE_INTERVAL_MS: '1000' }),
    ];
    const processes = new RealProcesses(ports, folder, children);
    await until('both are ready', async () => {
      const answers = await Promise.all([ports.ingest, ports.worker].map((port) => statusOf(port, '/readyz')));
      return answers.every((status) => status === 200) ? true : undefined;
    });
    return processes;
  }

  /** What Prometheus gets to read. */
  async metrics(port: number): Promise<string> {
    return (await page(port, '/metrics')).text();
  }

  async stop(): Promise<void> {
    this.client.close();
    await Promise.all(this.#children.map((child) => child.kill('SIGKILL')));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function page(port: number, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
}

async function statusOf(port: number, path: string): Promise<number> {
  return page(port, path).then(
    async (answer) => {
      await answer.text();
      return answer.status;
    },
    () => 0,
  );
}
