import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Child } from '../child.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { rulesFile } from './promtool.ts';

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** A real Prometheus with the shipped rules, scraping the ports given every second. */
export class Prometheus {
  readonly #port: number;
  readonly #folder: string;
  readonly #child: Child;

  private constructor(port: number, folder: string, child: Child) {
    this.#port = port;
    this.#folder = folder;
    this.#child = child;
  }

  static async start(ports: number[]): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-prometheus-'));
    const targets = ports.map((port) => `127.0.0.1:${port}`);
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [rulesFile],
      scrape_configs: [{ job_name: 'runledger', static_configs: [{ targets, labels: { namespace: 'rl' } }] }],
    };
    await writeFile(join(folder, 'prometheus.yml'), stringify(config));
    const port = await freePort();
    const child = new Child('prometheus', [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const server = new Prometheus(port, folder, child);
    await child.line(/Server is ready to receive web requests/);
    await until('every target is scraped', async () =>
      (await server.query('sum(up)'))[0]?.value === ports.length ? true : undefined,
    );
    return server;
  }

  /**
   * What an instant query gives at a time, in seconds since the Unix epoch. @throws what Prometheus
   * says is wrong with it.
   */
  async query(expr: string, time = Date.now() / 1_000): Promise<Sample[]> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expr, time: String(time) }),
      headers: { connection: 'close' },
    });
    const answer = (await response.json()) as {
      error?: string;
      data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (answer.error !== undefined) throw new Error(`${answer.error} in ${expr}`);
    return (answer.data?.result ?? []).map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  }

  async stop(): Promise<void> {
    await this.#child.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
