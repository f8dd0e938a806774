import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { Child } from '../child.ts';
import { freePort } from '../free-port.ts';

/** An alert as Alertmanager shows it. */
export interface ShownAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  endsAt: string;
  generatorURL: string;
  status: { state: string; silencedBy: string[]; inhibitedBy: string[] };
}

interface ShippedConfig {
  route: object;
  receivers: { name: string; webhook_configs: object[] }[];
}

/** A real Alertmanager with the example of deploy/prometheus, which sends to one receiver. */
export class AlertmanagerServer {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #child: Child | undefined;

  private constructor(port: number, folder: string) {
    this.#port = port;
    this.#folder = folder;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** @param receiver an address that gets the notifications, soon. */
  static async start(receiver: string): Promise<AlertmanagerServer> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-alertmanager-'));
    const shipped = parse(await readFile('deploy/prometheus/alertmanager.yaml', 'utf8')) as ShippedConfig;
    const soon = { group_wait: '100ms', group_interval: '100ms' };
    const receivers = [{ name: 'people', webhook_configs: [{ url: receiver, send_resolved: true }] }];
    const config = { ...shipped, route: { ...shipped.route, ...soon }, receivers };
    await writeFile(join(folder, 'alertmanager.yml'), stringify(config));
    const server = new AlertmanagerServer(await freePort(), folder);
    await server.startAgain();
    return server;
  }

  /** Starts without what it knew before. */
  async startAgain(): Promise<void> {
    await rm(join(this.#folder, 'data'), { recursive: true, force: true });
    this.#child = new Child('prometheus-alertmanager', [
      `--config.file=${join(this.#folder, 'alertmanager.yml')}`,
      `--storage.path=${join(this.#folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${this.#port}`,
      '--cluster.listen-address=',
    ]);
    await this.#child.line(/Listening on|Starting to listen|msg=Listening/);
  }

  async kill(): Promise<void> {
    await this.#child?.kill('SIGKILL');
  }

  /** It answers nothing until it is thawed. Connections are still accepted. */
  freeze(): void {
    this.#child?.process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.process.kill('SIGCONT');
  }

  /** How many alerts it has received since it started, each time that they were sent. */
  async received(status: 'firing' | 'resolved'): Promise<number> {
    const answer = await fetch(`${this.url}/metrics`, { headers: { connection: 'close' } });
    const line = new RegExp(
      `^alertmanager_alerts_received_total\\{status="${status}",version="v2"\\} (?<count>\\d+)`,
      'm',
    );
    return Number(line.exec(await answer.text())?.groups?.['count'] ?? 0);
  }

  /** The alerts that it shows as active, silenced or inhibited. */
  async alerts(): Promise<ShownAlert[]> {
    return (await this.#call('/api/v2/alerts')) as ShownAlert[];
  }

  /** Silences alerts with a label. */
  async silence(name: string, value: string): Promise<void> {
    const now = Date.now();
    await this.#call('/api/v2/silences', {
      matchers: [{ name, value, isRegex: false, isEqual: true }],
      startsAt: new Date(now).toISOString(),
      endsAt: new Date(now + 3_600_000).toISOString(),
      createdBy: 'test',
      comment: 'test',
    });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #call(path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.url}${path}`, {
      headers: { connection: 'close', 'Content-Type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }
}
