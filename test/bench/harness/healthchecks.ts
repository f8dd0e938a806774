import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child } from '../../support/child.ts';
import { freePort } from '../../support/free-port.ts';
import { repository } from '../../support/helm.ts';
import { until } from '../../support/until.ts';
import { cpuTimeOfFamily } from './cpu.ts';
import type { World } from './world.ts';
import { automationId, automations, pingKey } from './wrk.ts';

const run = promisify(execFile);

const version = 'v4.3';

/** The sources, and the programs of their requirements in `venv`. */
const folder = join(repository, `.cache/healthchecks-${version}`);

/** A project with a ping key, and a check for each automation of the load. */
const seed = `
from django.contrib.auth.models import User
from hc.accounts.models import Project
from hc.api.models import Check
owner = User.objects.create(username='bench', email='bench@example.org')
project = Project.objects.create(owner=owner, ping_key='${pingKey}')
names = '''${Array.from({ length: automations }, (_, at) => automationId(at)).join(' ')}'''.split()
Check.objects.bulk_create(Check(project=project, name=name, slug=name) for name in names)
`;

/**
 * Healthchecks with Postgres, as its image and its `docker/.env.example` run it: uWSGI with four
 * processes, and a session of Postgres for each request. It sends no alerts.
 */
export class Healthchecks implements AsyncDisposable {
  readonly port: number;
  readonly #uwsgi: Child;

  private constructor(port: number, uwsgi: Child) {
    this.port = port;
    this.#uwsgi = uwsgi;
  }

  /** Undefined where it cannot be installed: see {@link install}. */
  static async start(world: World): Promise<Healthchecks | undefined> {
    if (!(await install())) return undefined;
    const database = new URL(await world.emptyDatabase());
    const env = {
      PATH: `${join(folder, 'venv/bin')}:${process.env['PATH'] ?? ''}`,
      DEBUG: 'False',
      ALLOWED_HOSTS: '*',
      SECRET_KEY: 'benchmark',
      DB: 'postgres',
      DB_HOST: database.hostname,
      DB_PORT: database.port,
      DB_NAME: database.pathname.slice(1),
      DB_USER: database.username,
    };
    for (const args of [['migrate'], ['shell', '-c', seed]])
      await run('python', ['manage.py', ...args], { cwd: folder, env });
    const port = await freePort();
    const uwsgi = new Child('uwsgi', settingsOf(port), { cwd: folder, env });
    await until('Healthchecks answers', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/ping/${pingKey}/${automationId(0)}`).catch(() => undefined);
      return answer?.ok === true ? true : undefined;
    });
    return new Healthchecks(port, uwsgi);
  }

  /** CPU time of its processes so far, in ms, without Postgres. */
  cpu(): Promise<number> {
    return cpuTimeOfFamily(this.#uwsgi.process.pid ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#uwsgi.kill('SIGTERM');
  }
}

/** Those of `docker/uwsgi.ini`. Each answer ends its connection, and says so. */
function settingsOf(port: number): string[] {
  const flags = ['master', 'die-on-term', 'auto-procname', 'enable-threads', 'thunder-lock', 'disable-write-exception'];
  const values = [
    'processes=4',
    'threads=1',
    'harakiri=10',
    'buffer-size=32768',
    'post-buffering=16192',
    'max-fd=10000',
  ];
  const own = [`http-socket=127.0.0.1:${port}`, 'module=hc.wsgi:application', 'add-header=Connection: close'];
  return [...flags, 'disable-logging', ...values, ...own].map((setting) => `--${setting}`);
}

/**
 * Installs Healthchecks' sources from HEALTHCHECKS (a git address; default: GitHub) with the Python
 * PYTHON (default: `python3`; 3.12 or later). False where that fails.
 */
async function install(): Promise<boolean> {
  const { HEALTHCHECKS: source = 'https://github.com/healthchecks/healthchecks', PYTHON: python = 'python3' } =
    process.env;
  const program = join(folder, 'venv/bin/uwsgi');
  if (existsSync(program)) return true;
  try {
    await rm(folder, { recursive: true, force: true });
    await run('git', ['clone', '--quiet', '--depth', '1', '--branch', version, source, folder]);
    await run(python, ['-m', 'venv', 'venv'], { cwd: folder });
    const programs = ['-r', 'requirements.txt', 'pyuwsgi', 'psycopg[binary]'];
    await run('venv/bin/pip', ['install', '--quiet', '--prefer-binary', ...programs], { cwd: folder });
  } catch (error) {
    console.error(`Healthchecks cannot be installed: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
  return existsSync(program);
}
