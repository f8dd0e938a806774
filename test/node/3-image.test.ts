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

describe('the image', () => {
  let kubernetes: Kubernetes;
  let pods = 0;
  before(() => {
    kubernetes = sharedKubernetes();
  });

  /**
   * Starts a pod with the rights that the chart gives ingest, and these arguments and variables.
   */
  const start = async (args: string[], environment: Record<string, string> = {}): Promise<string> => {
    const manifests = await render();
    const { securityContext } = thePod(manifests, 'runledger-ingest');
    const { name, image, ...container } = theContainer(manifests, 'runledger-ingest');
    const env = Object.entries(environment).map(([key, value]) => ({ name: key, value }));
    const own = { name, image, command: container.command, args, env, securityContext: container.securityContext };
    const pod = `image-${(pods += 1)}`;
    await kubernetes.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, namespace: 'default' },
      spec: { securityContext, restartPolicy: 'Never', automountServiceAccountToken: false, containers: [own] },
    });
    return pod;
  };

  /** Resolves with what a pod printed, and its exit code, and removes it. */
  const end = async (pod: string): Promise<{ code: number; output: string }> => {
    const code = await until(
      `${pod} ends`,
      async () => {
        const path = '{.status.containerStatuses[0].state.terminated.exitCode}';
        const answer = await kubernetes.kubectl('get', 'pod', pod, '-o', `jsonpath=${path}`);
        return answer === '' ? undefined : Number(answer);
      },
      60_000,
    );
    const output = await kubernetes.kubectl('logs', pod);
    await kubernetes.kubectl('delete', 'pod', pod, '--now');
    return { code, output };
  };

  const run = async (...given: Parameters<typeof start>): ReturnType<typeof end> => end(await start(...given));

  /** What a script of Node prints inside, as JSON. */
  const look = async (script: string): Promise<unknown> => {
    const { code, output } = await run(['--print', `JSON.stringify((() => { ${script} })())`]);
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
    const found = (await look(`
      const { readdirSync, existsSync } = require('node:fs');
      return {
        app: readdirSync('/app').sort(),
        absent: ['node_modules/typescript', 'node_modules/mocha', '../usr/local/bin/npm', '../root/.npmrc']
          .filter((path) => existsSync('/app/' + path)),
        compiled: readdirSync(require('node:module').getCompileCacheDir()).length,
      };`)) as { app: string[]; absent: string[]; compiled: number };
    expect(found.app).to.deep.equal(['.compile-cache', 'LICENSE', 'cmd', 'internal', 'node_modules', 'package.json']);
    expect(found.absent).to.deep.equal([]);
    expect(found.compiled).to.be.greaterThan(100);
  });

  it('lets its user write nothing, without capabilities and without a way to get any', async () => {
    const found = (await look(`
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
      return { writable, attempt, status: readFileSync('/proc/self/status', 'utf8') };`)) as {
      writable: string[];
      attempt: string;
      status: string;
    };
    expect(found.writable).to.deep.equal([]);
    expect(found.attempt).to.equal('EROFS');
    expect(found.status).to.match(/^Uid:\s+10001\s/m);
    for (const set of ['CapEff', 'CapPrm', 'CapBnd']) expect(found.status).to.match(new RegExp(`^${set}:\\s+0+$`, 'm'));
    expect(found.status).to.match(/^NoNewPrivs:\s+1$/m);
    expect(found.status, 'the default seccomp profile').to.match(/^Seccomp:\s+2$/m);
  });

  for (const name of ['ingest', 'worker', 'migrate']) {
    it(`says in one line what ${name} lacks`, async () => {
      const { code, output } = await run([`cmd/${name}/main.ts`]);
      expect(code).to.equal(1);
      expect(output).to.match(/^runledger: [A-Z_]+ is required.*\n$/);
    });
  }

  it('mints tokens', async () => {
    const { code, output } = await run(['cmd/token/main.ts', 'create', '--organization', 'acme']);
    expect(code).to.equal(0);
    expect(output).to.include('runledger.dev/organization: acme');
  });

  it('hears the signal to stop as the first process', async () => {
    const servers = { REDIS_URL: 'redis://127.0.0.1:1', DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const pod = await start(['cmd/worker/main.ts'], servers);
    await until(
      'the worker has started',
      async () => {
        const log = await kubernetes.kubectl('logs', pod).catch(() => '');
        return log.includes('"started"') ? true : undefined;
      },
      60_000,
    );
    await kubernetes.kubectl('exec', pod, '--', 'node', '--eval', "process.kill(1, 'SIGTERM')");
    expect((await end(pod)).code).to.equal(0);
  });

  it('is built from a list of files', async () => {
    const ignore = await readFile(join(repository, '.dockerignore'), 'utf8');
    expect(ignore.split('\n').filter((line) => line !== '' && !/^[#!]/.test(line))).to.deep.equal(['*']);
  });
});

function tar(...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)('tar', args, { maxBuffer: 16 * 1024 * 1024 });
}
