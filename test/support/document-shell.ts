import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from './child.ts';
import type { MakeRun } from './make-run.ts';
import { until } from './until.ts';

const root = new URL('../..', import.meta.url).pathname;

/** What a clone has at its top level, as far as documents use it. */
const cloned = ['cmd', 'internal', 'deploy', 'charts', 'node_modules', 'package.json', 'Makefile'];

/**
 * The shell of somebody who follows a page: in a fresh clone beside a running `make run`, whose
 * ports stand for the documented ones. `TOKEN` is the demo token, and an answer of 4xx fails.
 */
export class DocumentShell {
  readonly #run: MakeRun;
  readonly #folder: string;
  readonly #child: Child;
  #blocks = 0;

  private constructor(run: MakeRun, folder: string, token: string) {
    this.#run = run;
    this.#folder = folder;
    const env = {
      ...run.environment,
      PATH: `${root}/node_modules/.bin:${process.env['PATH'] ?? ''}`,
      TOKEN: token,
      CURL_CA_BUNDLE: join(run.folder, 'tls/cert.pem'),
    };
    this.#child = new Child('bash', ['-e'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.process.stdin?.write('curl() { command curl --fail-with-body "$@"; }\n');
  }

  static async open(run: MakeRun): Promise<DocumentShell> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-documents-'));
    await Promise.all(cloned.map((name) => symlink(join(root, name), join(folder, name))));
    await symlink(run.folder, join(folder, '.data'));
    return new DocumentShell(run, folder, (await readFile(join(run.folder, 'demo-token'), 'utf8')).trim());
  }

  /**
   * Runs a block to its end, and until all that it sent is stored. Resolves with the lines of its
   * output, JSON as values. Rejects when a command fails.
   */
  async run(content: string): Promise<unknown[]> {
    const { ports } = this.#run;
    const done = `end of block ${(this.#blocks += 1)}`;
    const before = this.#child.output.length;
    const script = content
      .replaceAll('runledger.example.com', 'localhost:8443')
      .replaceAll('localhost:8443', `localhost:${ports.https}`)
      .replaceAll('localhost:8444', `localhost:${ports.console}`)
      .replaceAll('localhost:9090', `localhost:${ports.ops}`);
    this.#child.process.stdin?.write(`${script}\necho '${done}'\n`);
    await this.#child.line(new RegExp(`^${done}$`));
    await until('all of it in the database', async () => {
      const [accepted, stored, repeated] = await this.#counts();
      return accepted === stored + repeated;
    });
    return this.#child.output
      .slice(before, -1)
      .map((line): unknown => (line.startsWith('{') ? JSON.parse(line) : line));
  }

  async #counts(): Promise<[number, number, number]> {
    const metrics = await (await fetch(`http://127.0.0.1:${this.#run.ports.ops}/metrics`)).text();
    const sum = (name: string): number =>
      [...metrics.matchAll(new RegExp(`^runledger_events_${name}_total(?:\\{[^}]*\\})? (\\d+)`, 'gm'))].reduce(
        (total, [, value]) => total + Number(value),
        0,
      );
    return [sum('accepted'), sum('stored'), sum('duplicate')];
  }

  async close(): Promise<void> {
    this.#child.process.stdin?.end();
    if (this.#child.alive) await once(this.#child.process, 'exit');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
