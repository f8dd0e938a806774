import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { settings } from '../../internal/config/settings.ts';
import { chart, helm, kubeVersion, render, repository, template } from '../support/helm.ts';
import { parseManifests, podsOf, thePod } from '../support/helm-manifests.ts';

const examples = join(repository, 'deploy/examples');
const kind = join(repository, 'deploy/kind');
const read = (...path: string[]): Promise<string> => readFile(join(repository, ...path), 'utf8');

describe('deploy', () => {
  for (const values of [join(examples, 'production-values.yaml'), join(kind, 'values.yaml')]) {
    it(`has values that the chart accepts: ${values.slice(repository.length + 1)}`, async () => {
      const report = await helm([
        'lint',
        chart,
        '--strict',
        '--values',
        values,
        '--kube-version',
        kubeVersion,
        '--set',
        'renderMode=alwaysRender',
      ]);
      expect(report).to.include('0 chart(s) failed');
      expect(await render(['--values', values])).not.to.have.length(0);
    });
  }

  it('uses in its production values the objects of the other examples', async () => {
    const rendered = await template(['--values', join(examples, 'production-values.yaml')]);
    expect(rendered).not.to.include('kind: StatefulSet');
    const redis = parseManifests(await readFile(join(examples, 'redis.yaml'), 'utf8'));
    const service = redis.find((manifest) => manifest.kind === 'Service')?.metadata;
    expect(rendered).to.include(`redis://${service?.name}.${service?.namespace}.svc:6379/0`);
    expect(thePod(redis, 'redis').automountServiceAccountToken).to.equal(false);
    const [postgres] = parseManifests(await readFile(join(examples, 'postgres.yaml'), 'utf8'));
    expect(rendered).to.include(`name: ${postgres?.metadata.name}-app`);
    expect(rendered).to.include(`cnpg.io/cluster: ${postgres?.metadata.name}`);
    expect(rendered).to.include(`secretName: ${postgres?.metadata.name}-ca`);
    const [priority] = parseManifests(await readFile(join(examples, 'priority.yaml'), 'utf8'));
    expect(rendered).to.include(`priorityClassName: ${priority?.metadata.name}`);
  });

  it('runs the same processes by compose as by the chart, with settings that exist', async () => {
    const file = parse(await read('deploy/compose/compose.yaml'), { merge: true }) as {
      services: Record<
        string,
        { image: string; command?: string[]; environment?: Record<string, string>; read_only?: boolean }
      >;
    };
    const manifests = await render();
    for (const name of ['ingest', 'worker', 'migrate']) {
      const service = file.services[name];
      await access(join(repository, service?.command?.[0] ?? 'none'));
      const unknown = Object.keys(service?.environment ?? {}).filter((setting) => !(setting in settings));
      expect(unknown, name).to.deep.equal([]);
      expect(service?.read_only, name).to.equal(true);
    }
    const images = podsOf(manifests).flatMap(({ spec }) => spec.containers.map(({ image }) => image));
    for (const name of ['redis', 'postgres']) expect(images).to.include(file.services[name]?.image);
    expect(file.services['redis']?.command?.join(' ')).to.match(
      /--appendonly yes --appendfsync always --maxmemory-policy noeviction/,
    );
  });

  it('has scripts that a shell understands', async () => {
    const scripts = (await readdir(kind)).filter((file) => file.endsWith('.sh'));
    expect(scripts).to.deep.equal(['up.sh']);
    await Promise.all(scripts.map((script) => promisify(execFile)('sh', ['-n', join(kind, script)])));
  });

  it('builds the image on the Node version of the tests', async () => {
    const { devDependencies, version } = JSON.parse(await read('package.json')) as {
      devDependencies: { node: string };
      version: string;
    };
    expect(await read('Dockerfile')).to.include(`node:${devDependencies.node}-`);
    expect(await read('Dockerfile')).to.include(`ARG VERSION=${version}\n`);
    expect(await read('charts/runledger/Chart.yaml')).to.include(`appVersion: ${version}\n`);
  });

  it('sets variables in the chart that the processes know', async () => {
    const known = new Set([...Object.keys(settings), 'PGPASSWORD']);
    for (const { spec } of podsOf(await render()).filter(({ kind }) => kind === 'Deployment')) {
      const names = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ env }) => env ?? []);
      expect(names.map(({ name }) => name).filter((name) => !known.has(name))).to.deep.equal([]);
    }
  });
});
