import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { clusterCommands } from '../support/document-blocks.ts';
import { repository } from '../support/helm.ts';
import { installation, stepsOf } from '../support/node/first-steps.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { LoadedRelease } from '../support/node/loaded-release.ts';
import { cloneInto, commitNext } from '../support/node/next-version.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { ReleaseRegistry, releaseTool } from '../support/release-registry.ts';
import { until } from '../support/until.ts';
import { ownVersion } from '../support/version.ts';

const run = promisify(execFile);

const namespace = 'runledger';
const nodes = ['n1', 'n2'];

/*
 * Releases of the last commit, and of a next version, as deploy/release makes them. Their images
 * are those that the nodes run in other tests, and a layer on top; test/command/release.test.ts has
 * the files that no cluster needs.
 */
describe('a release in an OCI registry', function () {
  this.timeout(600_000);
  let kubernetes: Kubernetes;
  let registry: ReleaseRegistry;
  let release: LoadedRelease;
  let work: string;
  let own: string;
  let next: string;
  /** Of the images, by version. */
  const digests = new Map<string, string>();

  before(async () => {
    kubernetes = sharedKubernetes();
    work = await mkdtemp(join(tmpdir(), 'runledger-releases-'));
    own = await ownVersion();
    next = own.replace(/\d+\.\d+$/, (rest) => `${Number(rest.split('.')[0]) + 1}.0`);
    registry = await ReleaseRegistry.start('0.0.0.0');
    await uninstall();
    // The nodes look there for what the chart names.
    const mirror = join(stateOfNodes(), 'registries/ghcr.io');
    await mkdir(mirror, { recursive: true });
    const machine = kubernetes.addressOf('n1').replace(/\d+$/, '254');
    await writeFile(join(mirror, 'hosts.toml'), `[host."http://${machine}:${registry.port}"]\n`);

    for (const version of [own, next]) await mkdir(filesOf(version), { recursive: true });
    await cloneInto(cloneOf(own));
    await cloneInto(cloneOf(next));
    const changed = await commitNext(cloneOf(next), next);
    const layer = join(work, 'layer.tar');
    await run('tar', ['-cf', layer, '--transform=s,^,app/,', ...changed], { cwd: cloneOf(next) });
    await writeImage('exec', own);
    await writeImage('exec', next);
    await writeImage('runledger', own);
    await writeImage('runledger', next, layer);
    for (const version of [own, next]) {
      const program = join(filesOf(version), `runledger-${version}-linux-amd64`);
      await copyFile(join(repository, '.cache/runledger/linux-amd64'), program);
      const parts = [version, filesOf(version), 'chart', 'sboms', 'bundle', 'sums'];
      await run(join(cloneOf(version), 'deploy/release/build.sh'), parts);
      await registry.publish(version, filesOf(version), cloneOf(version));
    }
  });
  after(async () => {
    await registry?.stop();
    if (work !== undefined) await rm(work, { recursive: true });
  });

  const cloneOf = (version: string): string => join(work, `clone-${version}`);
  const filesOf = (version: string): string => join(work, version);
  const stateOfNodes = (): string => dirname(kubernetes.kubeconfig);

  const uninstall = async (): Promise<void> => {
    await kubernetes.helm('uninstall', 'runledger', '--namespace', namespace, '--ignore-not-found', '--wait');
    // Fails when there are none.
    const gone = ['wait', '--for=delete', 'pod', '--all', '--namespace', namespace, '--timeout=120s'];
    await kubernetes.kubectl(...gone).catch(() => undefined);
    // They stay, under the names that the next installation gives its own.
    const tokens = ['delete', 'secret', '--selector', 'runledger.dev/organization', '--namespace', namespace];
    await kubernetes.kubectl(...tokens);
  };

  /** An image of the nodes as build.sh writes it: the layout of an index. `layer` comes on top. */
  const writeImage = async (name: string, version: string, layer?: string): Promise<void> => {
    const crane = await releaseTool('crane');
    const index = `127.0.0.1:${registry.port}/built/${name}:${version}`;
    await run(crane, ['push', kubernetes.imageArchive(name), `${index}-base`]);
    const image = layer === undefined ? `${index}-base` : `${index}-image`;
    if (layer !== undefined)
      await run(crane, ['append', '--base', `${index}-base`, '--new_layer', layer, '--new_tag', image]);
    await run(crane, ['index', 'append', '--manifest', image, '--tag', index]);
    const layout = join(work, `${name}-${version}`);
    await run(crane, ['pull', '--format', 'oci', index, layout]);
    const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as {
      manifests: [{ digest: string }];
    };
    const annotations = { 'org.opencontainers.image.ref.name': `ghcr.io/runledger/${name}:${version}` };
    const named = { schemaVersion: 2, manifests: [{ ...manifests[0], annotations }] };
    await writeFile(join(layout, 'index.json'), JSON.stringify(named));
    const archive = join(filesOf(version), `runledger-${version}-image-${name}.tar`);
    await run('tar', ['-cf', archive, '-C', layout, 'blobs', 'index.json', 'oci-layout']);
    if (name === 'runledger') digests.set(version, manifests[0].digest);
  };

  /** Runs documented lines, as somebody with a folder of values does. */
  const shell = (lines: string): Promise<string> => kubernetes.shell(`cd ${work}\n${lines}`);
  const imageOf = (version: string): string => `ghcr.io/runledger/runledger:${version}@${digests.get(version)}`;
  /** Resolves when all pods of Runledger run the image of a version, by its digest. */
  const allRun = (version: string): Promise<true> =>
    until(
      `all run ${imageOf(version)}`,
      async () => {
        const path = 'jsonpath={.items[*].spec.containers[*].image}';
        const images = await kubernetes.kubectl('get', 'pods', '--namespace', namespace, '-o', path);
        const own = images.split(' ').filter((image) => image.startsWith('ghcr.io/'));
        return own.length > 0 && own.every((image) => image === imageOf(version));
      },
      240_000,
      500,
    );
  /** How many executions each connection has stored, by the column of the next version. */
  const storedBy = async (): Promise<Record<string, number>> => {
    const database = await kubernetes.postgres(namespace);
    const rows = await database.query<{ name: string; count: number }>(
      'select stored_by as name, count(*)::int from executions group by 1',
    );
    await database.close();
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  };

  it('is verified, and installed by the documented line with the image that was signed', async () => {
    const said = await registry.verify(own, filesOf(own));
    expect(said).to.include(`"docker-manifest-digest":"${digests.get(own)}"`);
    const statements = [...said.matchAll(/"payload":"([^"]+)"/g)].map(([, payload = '']) =>
      Buffer.from(payload, 'base64').toString(),
    );
    const { stdout: commit } = await run('git', ['-C', cloneOf(own), 'rev-parse', 'HEAD']);
    const provenance = statements.find((statement) => statement.includes('https://slsa.dev/provenance/v1'));
    expect(provenance).to.include(commit.trim());

    const chart = `oci://${registry.owner}/charts/runledger --version ${own}`;
    const line = installation(chart)
      .replaceAll(/--set \S+/g, '')
      .replaceAll(/\\\s+/g, ' ');
    release = await LoadedRelease.install(kubernetes, async (values) => {
      await copyFile(values, join(work, 'values.yaml'));
      await shell(`${line} -f values.yaml --plain-http --wait --timeout 180s`);
    });
    await allRun(own);
    const pulled = await kubernetes.kubectl('events', '--namespace', namespace, '--types=Normal');
    expect(pulled).to.include(`Successfully pulled image "${imageOf(own)}"`);
  });

  it('is pushed to another registry by the documented lines, with the image that was signed', async () => {
    const crane = await releaseTool('crane');
    const other = `127.0.0.1:${registry.port}/other`;
    const lines = clusterCommands('docs/operate/air-gap.md', 2).replaceAll('registry.internal', other);
    const env = { ...process.env, PATH: `${dirname(crane)}:${process.env['PATH']}` };
    await run('bash', ['-ec', lines], { cwd: filesOf(own), env });
    const { stdout: digest } = await run(crane, ['digest', `${other}/runledger/runledger:${own}`]);
    expect(digest.trim()).to.equal(digests.get(own));
  });

  it('is upgraded to the next one at 500 events a second, and rolled back', async () => {
    await kubernetes.apply({
      apiVersion: 'runledger.dev/v1beta1',
      kind: 'Automation',
      metadata: { name: 'kept', namespace: 'default' },
      spec: { automationId: randomUUID() },
    });
    /** What the API server answers to who asks for it in a version. */
    const kept = async (version: string): Promise<number> => {
      const path = `/apis/runledger.dev/${version}/namespaces/default/automations/kept`;
      return (await kubernetes.api.call('GET', path)).status;
    };
    await registry.verify(next, filesOf(next));
    const upgrade = (await registry.named(clusterCommands('docs/operate/upgrade.md', 0), next)).trim();
    const upgraded = await release.underLoad(
      () => shell(`${upgrade} --set config.storedBy=next --plain-http --wait --timeout 180s`),
      { rate: 500 },
    );
    expect(upgraded).to.deep.equal({});
    await allRun(next);
    const before = await storedBy();
    expect(before['runledger-next']).to.be.greaterThan(0);
    expect(await kept('v1')).to.equal(200);

    const rolledBack = await release.underLoad(
      () => shell(`helm rollback runledger --namespace ${namespace} --wait --timeout 180s`),
      { rate: 500 },
    );
    expect(rolledBack).to.deep.equal({});
    await allRun(own);
    expect((await storedBy())['runledger-worker']).to.be.greaterThan(before['runledger-worker'] ?? 0);
    expect([await kept('v1'), await kept('v1beta1')]).to.deep.equal([404, 200]);
    await kubernetes.kubectl('delete', 'automations.runledger.dev', 'kept');
  });

  /** Runs a script on a node, beside its containerd. */
  const onNode = async (node: string, script: string): Promise<string> => {
    const containerd = `containerd --config ${stateOfNodes()}/${node}/containerd.toml`;
    const { stdout: pid } = await run('pgrep', ['--full', containerd]);
    const enter = ['--target', pid.trim(), '--mount', '--net', '--wd=/', 'bash', '-ec', script];
    return (await run('nsenter', enter, { env: { ...process.env, CONTAINERD_ADDRESS: `/run/${node}.sock` } })).stdout;
  };

  it('is installed from its bundle where no node has a way out', async () => {
    await uninstall();
    await registry.stop();
    const bundle = join(work, 'bundle');
    await mkdir(bundle);
    await copyFile(join(filesOf(own), `runledger-${own}-bundle.tar`), join(bundle, `runledger-${own}-bundle.tar`));
    await kubernetes.shell(`cd ${bundle}\n${clusterCommands('docs/operate/air-gap.md', 0)}`);
    for (const node of nodes) {
      const outside = await onNode(node, 'timeout 10 bash -c ": < /dev/tcp/1.1.1.1/443"').catch(String);
      expect(outside).to.include('Network is unreachable');
      const ctr = 'ctr --namespace k8s.io images';
      await onNode(node, `${ctr} rm --sync $(${ctr} ls | grep ${digests.get(own)} | cut -d ' ' -f 1)`);
      await onNode(node, `cd ${bundle}\n${clusterCommands('docs/operate/air-gap.md', 1)}`);
    }
    const notes = await kubernetes.shell(`cd ${bundle}\n${clusterCommands('docs/operate/air-gap.md', 3)}`);
    const receipt = await kubernetes.shell((await stepsOf(notes)).slice(0, 3).join('\n'));
    expect(receipt, receipt).to.include('"type_of_event":"START"');
    await allRun(own);
    await uninstall();
  });
});
