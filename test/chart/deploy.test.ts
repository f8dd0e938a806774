import { execFile } from 'node:child_process';
import { access, glob, readFile } from 'node:fs/promises';
import { dirname, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { settings } from '../../internal/config/settings.ts';
import { chart, helm, kubeVersion, render, repository, template } from '../support/helm.ts';
import { objectOf, parseManifests, podsOf, theContainer, thePod } from '../support/helm-manifests.ts';
import { nodeOptionsOfController, nodeOptionsOfImage } from '../support/image-environment.ts';

const read = (...path: string[]): Promise<string> => readFile(join(repository, ...path), 'utf8');

describe('deploy', () => {
  for (const values of ['deploy/examples/production-values.yaml', 'deploy/kind/values.yaml']) {
    it(`has values that the chart accepts: ${values}`, async () => {
      const given = ['--values', join(repository, values)];
      const all = [...given, '--kube-version', kubeVersion, '--set', 'renderMode=alwaysRender'];
      expect(await helm(['lint', chart, '--strict', ...all])).to.include('0 chart(s) failed');
      expect(await render(given)).not.to.have.length(0);
    });
  }

  it('uses in its production values the objects of the other examples', async () => {
    const rendered = await template(['--values', join(repository, 'deploy/examples/production-values.yaml')]);
    expect(rendered).not.to.include('kind: StatefulSet');
    const example = async (file: string) => parseManifests(await read('deploy/examples', file));
    const redis = await example('redis.yaml');
    const { name, namespace } = objectOf(redis, 'Service', 'redis').metadata;
    expect(rendered).to.include(`redis://${name}.${namespace}.svc:6379/0`);
    expect(thePod(redis, 'redis').automountServiceAccountToken).to.equal(false);
    const [postgres, priority] = [...(await example('postgres.yaml')).slice(0, 1), ...(await example('priority.yaml'))];
    expect(rendered).to.include(`name: ${postgres?.metadata.name}-app`);
    expect(rendered).to.include(`postgres://${postgres?.metadata.name}-ro.${namespace}.svc:5432/runledger`);
    expect(rendered).to.include(`cnpg.io/cluster: ${postgres?.metadata.name}`);
    expect(rendered).to.include(`secretName: ${postgres?.metadata.name}-ca`);
    expect(rendered).to.include(`priorityClassName: ${priority?.metadata.name}`);
  });

  it('runs the same processes by compose as by the chart, with settings that exist', async () => {
    const { services } = parse(await read('deploy/compose/compose.yaml'), { merge: true }) as {
      services: Record<string, { image: string; command?: string[]; environment?: object; read_only?: boolean }>;
    };
    const manifests = await render();
    for (const name of ['ingest', 'worker', 'migrate', 'console']) {
      const service = services[name];
      await access(join(repository, service?.command?.[0] ?? 'none'));
      const unknown = Object.keys(service?.environment ?? {}).filter((setting) => !(setting in settings));
      expect(unknown, name).to.deep.equal([]);
      expect(service?.read_only, name).to.equal(true);
    }
    const images = podsOf(manifests).flatMap(({ spec }) => spec.containers.map(({ image }) => image));
    for (const name of ['redis', 'postgres']) expect(images).to.include(services[name]?.image);
    expect(services['redis']?.command?.join(' ')).to.match(
      /--appendonly yes --appendfsync always --maxmemory-policy noeviction/,
    );
  });

  it('has scripts that a shell understands', async () => {
    for (const script of ['deploy/kind/up.sh', 'deploy/install.sh']) {
      await promisify(execFile)('sh', ['-n', join(repository, script)]);
    }
  });

  it('builds the image on the Node version of the tests', async () => {
    const { devDependencies } = JSON.parse(await read('package.json')) as { devDependencies: { node: string } };
    expect(await read('Dockerfile')).to.include(`node:${devDependencies.node}-`);
  });

  it('runs every process with the options of the image, which its compile cache is made with', async () => {
    const options = nodeOptionsOfImage();
    expect(options).to.include('--expose-gc');
    const dockerfile = (await read('Dockerfile')).replaceAll(/\s*\\\n\s*/g, ' ');
    expect(dockerfile).to.include(` node --predictable ${options.join(' ')} $file`);
    const ofController = [...options, ...nodeOptionsOfController()].join(' ');
    expect(dockerfile).to.include(` node --predictable ${ofController} $file`);
    const manifests = await render();
    const { args } = theContainer(manifests, 'runledger-controller');
    expect(args).to.deep.equal([...nodeOptionsOfController(), 'cmd/controller/main.ts']);
    for (const { spec } of podsOf(manifests).filter(({ kind }) => kind === 'Deployment')) {
      const all = [...spec.containers, ...(spec.initContainers ?? [])];
      for (const { name, command } of all) expect(command, `the entrypoint runs ${name}`).to.equal(undefined);
    }
  });

  it('compiles each file that a process of the image loads later', async () => {
    const dockerfile = (await read('Dockerfile')).replaceAll(/\s*\\\n\s*/g, ' ');
    const cached = [...dockerfile.matchAll(/(?:for file in|tracing=)([^;]+)/g)].flatMap(([, files = '']) =>
      files.trim().split(' '),
    );
    const loadedLater: string[] = [];
    for await (const file of glob('{cmd,internal}/**/*.ts', { cwd: repository })) {
      // These are not in the image, or not under its options of Node.
      if (/^cmd\/(demo|exec|standalone)\//.test(file)) continue;
      const imports = (await read(file)).matchAll(/import\('(\..+?\.ts)'\)/g);
      for (const [, path = ''] of imports) loadedLater.push(join(dirname(file), path));
    }
    expect(loadedLater).to.include('cmd/controller/cluster-declarations.ts');
    expect(loadedLater.filter((file) => !cached.some((pattern) => matchesGlob(file, pattern)))).to.deep.equal([]);
  });

  it('sets variables in the chart that the processes know', async () => {
    const known = new Set([...Object.keys(settings), 'PGPASSWORD']);
    for (const { spec } of podsOf(await render()).filter(({ kind }) => kind === 'Deployment')) {
      const names = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ env }) => env ?? []);
      const settled = names.map(({ name }) => (known.has(name) ? name : name.replace(/_FILE$/, '')));
      expect(settled.filter((name) => !known.has(name))).to.deep.equal([]);
    }
  });
});
