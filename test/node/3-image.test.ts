import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { render, repository } from '../support/helm.ts';
import { theContainer, thePod } from '../support/helm-manifests.ts';
import { nodeOptionsOfImage } from '../support/image-environment.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { until } from '../support/until.ts';

interface ImageConfig {
  readonly config: {
    readonly User: string;
    readonly Entrypoint: string[];
    readonly Labels: Record<string, string>;
  };
}

/** A container's arguments and variables. */
interface Run {
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A script of Node that prints its result as JSON. */
const printed = (script: string): Run => ({ args: ['--print', `JSON.stringify((() => { ${script} })())`] });

const runs: Readonly<Record<string, Run>> = {
  files: printed(`
    const { readdirSync, existsSync } = require('node:fs');
    return {
      app: readdirSync('/app').sort(),
      absent: ['node_modules/typescript', 'node_modules/mocha', '../usr/local/bin/npm', '../root/.npmrc']
        .filter((path) => existsSync('/app/' + path)),
      compiled: readdirSync(require('node:module').getCompileCacheDir()).length,
    };`),
  rights: printed(`
    const { lstatSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
    const device = lstatSync('/').dev;
    const writable = [];
    const walk = (folder) => {
      for (const name of readdirSync(folder)) {
        const path = folder + '/' + name;
        const stat = lstatSync(path);
        if (stat.dev !== device || stat.isSymbolicLink()) continue;
        const open = stat.uid === 10001 || stat.gid === 10001 || (stat.mode & 0o1002) === 0o0002;
        if (open && !stat.isCharacterDevice()) writable.push(path);
        if (stat.isDirectory() && (stat.mode & 0o005) === 0o005) walk(path);
      }
    };
    walk('/');
    let attempt = 'written';
    try { writeFileSync('/app/x', ''); } catch (error) { attempt = error.code; }
    return { writable, attempt, status: readFileSync('/proc/self/status', 'utf8') };`),
  ingest: { args: ['cmd/ingest/main.ts'] },
  worker: { args: ['cmd/worker/main.ts'] },
  migrate: { args: ['cmd/admin/main.ts', 'migrate'] },
  token: { args: ['/usr/local/bin/runledger-admin', 'token', 'create'] },
  stopped: {
    args: ['cmd/worker/main.ts'],
    environment: { REDIS_URL: 'redis://127.0.0.1:1', DATABASE_URL: 'postgres://127.0.0.1:1/none' },
  },
};

describe('the image', () => {
  let kubernetes: Kubernetes;
  // All run in one pod, each in a container with the rights that the chart gives ingest.
  before(async () => {
    kubernetes = sharedKubernetes();
    const manifests = await render();
    const { securityContext } = thePod(manifests, 'runledger-ingest');
    const { image, command, securityContext: own } = theContainer(manifests, 'runledger-ingest');
    const containers = Object.entries(runs).map(([name, { args, environment = {} }]) => {
      const env = Object.entries(environment).map(([key, value]) => ({ name: key, value }));
      return { name, image, command, args, env, securityContext: own };
    });
    await kubernetes.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'image', namespace: 'default' },
      spec: { securityContext, restartPolicy: 'Never', automountServiceAccountToken: false, containers },
    });
  });
  after(() => kubernetes?.kubectl('delete', 'pod', 'image', '--now'));

  const logOf = (container: string): Promise<string> => kubernetes.kubectl('logs', 'image', '--container', container);

  /** The output of a container, and its exit code, once it has ended. */
  const endOf = async (container: string): Promise<{ code: number; output: string }> => {
    const code = await until(
      `${container} ends`,
      async () => {
        const { status } = (await kubernetes.api.must('GET', '/api/v1/namespaces/default/pods/image')) as {
          status: { containerStatuses?: { name: string; state: { terminated?: { exitCode: number } } }[] };
        };
        const found = status.containerStatuses?.find(({ name }) => name === container);
        return found?.state.terminated?.exitCode;
      },
      240_000,
      250,
    );
    return { code, output: await logOf(container) };
  };

  const lookOf = async (container: string): Promise<unknown> => {
    const { code, output } = await endOf(container);
    expect(code, output).to.equal(0);
    return JSON.parse(output);
  };

  it('says what it is, runs as a user that is not root, and is small', async () => {
    const archive = kubernetes.imageArchive('runledger');
    const member = async (name: string): Promise<string> => (await tar('-xOf', archive, name)).stdout;
    const [manifest] = JSON.parse(await member('manifest.json')) as [{ Config: string; Layers: string[] }];
    const { config } = JSON.parse(await member(manifest.Config)) as ImageConfig;
    expect(config.User).to.equal('10001:10001');
    expect(config.Entrypoint).to.deep.equal(['node', ...nodeOptionsOfImage()]);
    expect(config.Labels).to.include({
      'org.opencontainers.image.title': 'Runledger',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    });
    const sizes = new Map(
      (await tar('-tvf', archive)).stdout
        .split('\n')
        .map((line) => line.split(/\s+/))
        .map(([, , size, , , name]) => [name, Number(size)]),
    );
    // The first layer is the base.
    const own = manifest.Layers.slice(1).reduce((sum, layer) => sum + (sizes.get(layer) ?? Number.NaN), 0);
    console.log(`      ${Math.round(own / 1e6)} MB on top of the base`);
    expect(own / 1e6).to.be.lessThan(110);
  });

  it('holds what runs, compiled, and nothing else', async () => {
    const found = (await lookOf('files')) as { app: string[]; absent: string[]; compiled: number };
    expect(found.app).to.deep.equal(['.compile-cache', 'LICENSE', 'cmd', 'internal', 'node_modules', 'package.json']);
    expect(found.absent).to.deep.equal([]);
    expect(found.compiled).to.be.greaterThan(100);
  });

  it('lets its user write nothing, without capabilities and without a way to get any', async () => {
    const found = (await lookOf('rights')) as { writable: string[]; attempt: string; status: string };
    expect(found.writable).to.deep.equal([]);
    expect(found.attempt).to.equal('EROFS');
    expect(found.status).to.match(/^Uid:\s+10001\s/m);
    for (const set of ['CapEff', 'CapPrm', 'CapBnd']) expect(found.status).to.match(new RegExp(`^${set}:\\s+0+$`, 'm'));
    expect(found.status).to.match(/^NoNewPrivs:\s+1$/m);
    expect(found.status, 'the default seccomp profile').to.match(/^Seccomp:\s+2$/m);
  });

  for (const name of ['ingest', 'worker', 'migrate']) {
    it(`says in one line what ${name} lacks`, async () => {
      const { code, output } = await endOf(name);
      expect(code).to.equal(name === 'migrate' ? 2 : 1);
      expect(output).to.match(/^(?:runledger|migrate): [A-Z_]+ is required.*\n$/);
    });
  }

  it('mints tokens', async () => {
    const { code, output } = await endOf('token');
    expect(code).to.equal(0);
    expect(output).to.match(/^rl_\S{43}\n$/);
  });

  it('hears the signal to stop as the first process', async () => {
    await until(
      'the worker has started',
      async () => {
        const log = await logOf('stopped').catch(() => '');
        return log.includes('"started"');
      },
      240_000,
      500,
    );
    const stop = ['node', '--eval', "process.kill(1, 'SIGTERM')"];
    await kubernetes.kubectl('exec', 'image', '--container', 'stopped', '--', ...stop);
    expect((await endOf('stopped')).code).to.equal(0);
  });

  it('is built from a list of files', async () => {
    const ignore = await readFile(join(repository, '.dockerignore'), 'utf8');
    expect(ignore.split('\n').filter((line) => line !== '' && !/^[#!]/.test(line))).to.deep.equal(['*']);
  });
});

function tar(...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)('tar', args, { maxBuffer: 16 * 1024 * 1024 });
}
