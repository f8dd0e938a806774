import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Cluster } from '../support/cluster/cluster.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { findKubectl } from '../support/helm-binaries.ts';
import {
  environmentOf,
  podsOf,
  theContainer,
  type Container,
  type Manifest,
  type PodSpec,
} from '../support/helm-manifests.ts';
import { productionExample, shapes } from '../support/helm.ts';
import { installOptionalApis } from '../support/cluster/optional-apis.ts';
import { Release } from '../support/cluster/release.ts';

interface Revision {
  readonly revision: number;
  readonly status: string;
}

interface Policy {
  readonly egress: { ports: { port: number }[]; to?: object[] }[];
}

/**
 * The shapes that differ in what outlives a release: the password of Postgres, the tokens'
 * namespace, or nothing. Those of the others end as one of these does.
 */
const wholeLives = new Set(['default', 'external-services', 'ingress-nginx', 'minimal']);

const everyShape = [...(await shapes()), productionExample];

describe('chart in a real API server', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = sharedCluster();
    await installOptionalApis(cluster.admin);
  });

  for (const shape of everyShape) {
    describe(`shape ${shape}`, () => {
      let release: Release;
      before(async () => {
        release = await Release.prepare(cluster);
      });
      after(async () => {
        if (!wholeLives.has(shape)) await release.helm('uninstall', release.name);
        await release.cleanUp();
      });

      it('installs only fields that the API server knows', async () => {
        await release.install(...(await release.valuesOf(shape)));
        const file = [
          '--filename',
          '-',
          '--dry-run=server',
          '--validate=strict',
          '--field-manager=check',
          '--force-conflicts',
        ];
        const manifest = await release.helm('get', 'manifest', release.name);
        const report = await kubectl(['apply', '--server-side', ...file], release, manifest);
        expect(report.stderr, 'no warning either').to.equal('');
        expect(report.stdout.trim().split('\n')).to.have.length((await release.manifests()).length);
      });

      it('runs pods that meet the Pod Security Standard restricted', async () => {
        const templates = podsOf(await release.manifests());
        expect(templates).to.have.length.greaterThan(1);
        for (const { name, spec } of templates) {
          const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: unplaced(spec) };
          const pods = `/api/v1/namespaces/${release.namespace}/pods?dryRun=All&fieldValidation=Strict`;
          expect((await cluster.admin.call('POST', pods, pod)).status, name).to.equal(201);
        }
      });

      if (!wholeLives.has(shape)) return;

      it('upgrades to changed values', async () => {
        const kept = await secrets(release);
        await release.upgrade(...(await release.valuesOf(shape)), '--set', 'config.logLevel=debug');
        expect(logLevelOf(await release.manifests())).to.equal('debug');
        expect(await secrets(release), 'passwords and certificates stay').to.deep.equal(kept);
      });

      it('rolls back', async () => {
        await release.helm('rollback', release.name, '1');
        expect(logLevelOf(await release.manifests())).to.equal('info');
        const history = JSON.parse(await release.helm('history', release.name, '--output', 'json')) as Revision[];
        expect(history.map(({ status }) => status)).to.deep.equal(['superseded', 'superseded', 'deployed']);
        const path = `/apis/apps/v1/namespaces/${release.namespace}/deployments/runledger-ingest`;
        const deployment = (await cluster.admin.must('GET', path)) as unknown as Manifest;
        expect(logLevelOf([deployment]), 'and the API server has it').to.equal('info');
      });

      it('leaves nothing behind', async () => {
        const before = await release.objects();
        expect(before).to.include(`deployments ${release.namespace}/runledger-ingest`);
        const keeps = (await release.manifests()).filter(
          ({ kind, metadata }) =>
            kind !== 'CustomResourceDefinition' && metadata.annotations?.['helm.sh/resource-policy'] === 'keep',
        );
        await release.helm('uninstall', release.name);
        // Only what values say outlives the release: the tokens' namespace, and what opens the
        // volume of Postgres.
        const kept = keeps.map(
          ({ kind, metadata }) => `${kind.toLowerCase()}s ${metadata.namespace ?? ''}/${metadata.name}`,
        );
        expect(await release.objects()).to.deep.equal(kept.sort());
      });

      it('installs again with the password that the bundled Postgres kept', async () => {
        const left = await passwordOfPostgres(cluster, release);
        // A namespace that is being deleted stays so here: nothing empties it.
        const tokens = ['--set', 'tokens.createNamespace=false,tokens.namespace='];
        await release.install(...(await release.valuesOf(shape)), ...tokens);
        const again = await passwordOfPostgres(cluster, release);
        // A shape that keeps none has a new one, or none at all.
        expect(again).to.equal(left ?? again);
        await release.helm('uninstall', release.name);
      });
    });
  }

  it('lets pods with a token connect to the addresses of the API server only, where the cluster tells them', async () => {
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const slice = {
      metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.10'] }, { addresses: ['192.0.2.11'] }],
      ports: [{ name: 'https', port: 16443 }],
    };
    const release = await Release.prepare(cluster);
    try {
      expect(apiServerRulesOf(await release.template())).to.deep.equal({ ports: [443, 6443] });
      // The API server of these tests listens on this machine only, and so makes none itself.
      await cluster.admin.must('POST', slices, slice);
      const { ports, to = [] } = apiServerRulesOf(await release.template());
      expect(ports).to.deep.equal([443, 6443, 16443]);
      expect(to).to.include.deep.members([
        { ipBlock: { cidr: '192.0.2.10/32' } },
        { ipBlock: { cidr: '192.0.2.11/32' } },
      ]);
      const given = await release.template('--set', 'networkPolicy.apiServerTo[0].ipBlock.cidr=10.0.0.0/28');
      expect(apiServerRulesOf(given).to).to.deep.equal([{ ipBlock: { cidr: '10.0.0.0/28' } }]);
    } finally {
      await cluster.admin.call('DELETE', `${slices}/kubernetes`);
      await release.cleanUp();
    }
  });
});

/** The rule of ingest for the API server; equal for each process that connects to it. */
function apiServerRulesOf(manifests: readonly Manifest[]): { ports: number[]; to?: object[] } {
  const rules = ['ingest', 'console', 'controller'].map((component) => {
    const policy = manifests.find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === `runledger-${component}`,
    );
    const { egress } = (policy?.['spec'] ?? { egress: [] }) as Policy;
    const { ports = [], to } = egress.find((rule) => rule.ports.some(({ port }) => port === 6443)) ?? {};
    return { ports: ports.map(({ port }) => port), ...(to && { to }) };
  });
  const [first = { ports: [] }, ...others] = rules;
  for (const other of others) expect(other).to.deep.equal(first);
  return first;
}

/**
 * The pod without fields that need other parts of a cluster: priority class, account, claimed
 * volume.
 */
function unplaced(spec: PodSpec): object {
  const { volumes = [], containers } = spec;
  const claimed = volumes.every(({ name }) => name !== 'data') && mounts(containers, 'data');
  const complete = claimed ? [...volumes, { name: 'data', emptyDir: {} }] : volumes;
  return { ...spec, volumes: complete, priorityClassName: undefined, serviceAccountName: undefined };
}

function mounts(containers: readonly Container[], volume: string): boolean {
  return containers.some(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volume));
}

function logLevelOf(manifests: readonly Manifest[]): string | undefined {
  return environmentOf(theContainer(manifests, 'runledger-ingest'))['LOG_LEVEL'];
}

/** The Secrets with random content, and that content. */
async function secrets(release: Release): Promise<unknown[]> {
  const made = (await release.manifests()).filter(({ kind }) => kind === 'Secret');
  return made.map(({ metadata, ...rest }) => [metadata.name, rest['data']]);
}

/** The value in the API server, in base64; undefined if it does not exist. */
async function passwordOfPostgres(cluster: Cluster, { namespace }: Release): Promise<string | undefined> {
  const path = `/api/v1/namespaces/${namespace}/secrets/runledger-postgresql`;
  const { status, body } = await cluster.admin.call('GET', path);
  return status === 200 ? (body as { data: { password: string } }).data.password : undefined;
}

async function kubectl(args: string[], release: Release, input: string): Promise<{ stdout: string; stderr: string }> {
  const run = promisify(execFile)(await findKubectl(), ['--kubeconfig', release.kubeconfig, ...args]);
  run.child.stdin?.end(input);
  return run;
}
