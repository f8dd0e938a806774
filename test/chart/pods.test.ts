import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chart, helm, render } from '../support/helm.ts';
import { objectOf, thePod, type Manifest } from '../support/helm-manifests.ts';

function deploymentOf(manifests: readonly Manifest[], name: string): { replicas?: number; strategy: unknown } {
  return objectOf(manifests, 'Deployment', `runledger-${name}`)['spec'] as { replicas?: number; strategy: unknown };
}

for (const name of ['ingest', 'worker']) {
  describe(`chart, pods of ${name}`, () => {
    it('are as many as replicaCount says', async () => {
      const manifests = await render(['--set', `${name}.replicaCount=3`]);
      expect(deploymentOf(manifests, name).replicas).to.equal(3);
    });

    it('are as many as the old name replicas says', async () => {
      expect(deploymentOf(await render(['--set', `${name}.replicas=5`]), name).replicas).to.equal(5);
      const both = ['--set', `${name}.replicas=5,${name}.replicaCount=5`];
      expect(deploymentOf(await render(both), name).replicas).to.equal(5);
    });

    it('come with a warning in the notes under the old name only', async () => {
      const warning = `WARNING: ${name}.replicas is the old name of ${name}.replicaCount.`;
      const notes = (value: string): Promise<string> =>
        helm(['install', 'runledger', chart, '--dry-run=client', '--set', `${name}.${value}`]);
      expect(await notes('replicas=5')).to.include(warning);
      expect(await notes('replicaCount=5')).not.to.include(warning);
    });

    it('are replaced as strategy says', async () => {
      const recreate = await render(['--set', `${name}.strategy.type=Recreate`]);
      expect(deploymentOf(recreate, name).strategy).to.deep.equal({ type: 'Recreate' });
      const half = await render(['--set', `${name}.strategy.rollingUpdate.maxSurge=50%`]);
      expect(deploymentOf(half, name).strategy).to.deep.equal({
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 0, maxSurge: '50%' },
      });
    });

    it('get volumes, init containers, a runtime class and a spread from the values as they are', async () => {
      const given = {
        runtimeClassName: 'gvisor',
        initContainers: [{ name: 'proxy', image: 'example.com/proxy:1.0.0', restartPolicy: 'Always' }],
        extraVolumes: [{ name: 'extra', emptyDir: { medium: 'Memory' } }],
        extraVolumeMounts: [{ name: 'extra', mountPath: '/extra', subPath: 'a' }],
        topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
      };
      const pod = thePod(await renderValues({ [name]: given }), `runledger-${name}`);
      expect(pod).to.include({ runtimeClassName: 'gvisor' });
      const [first, ...others] = pod.initContainers ?? [];
      expect(first).to.deep.equal(given.initContainers[0]);
      expect(others.map((container) => container.name)).to.deep.equal(name === 'worker' ? ['migrate'] : []);
      expect(pod.volumes).to.deep.include(given.extraVolumes[0]);
      for (const container of [...others, ...pod.containers]) {
        expect(container.volumeMounts, container.name).to.deep.include(given.extraVolumeMounts[0]);
      }
      expect(pod.topologySpreadConstraints).to.have.length(1);
      expect(pod.topologySpreadConstraints?.[0]).to.deep.include(given.topologySpreadConstraints[0]);
    });
  });
}

describe('chart, pods', () => {
  it('of the helm test run with the runtime class of ingest', async () => {
    const manifests = await render(['--set', 'ingest.runtimeClassName=gvisor']);
    expect(objectOf(manifests, 'Pod', 'runledger-test')['spec']).to.include({ runtimeClassName: 'gvisor' });
  });
});

async function renderValues(values: object): Promise<Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-chart-'));
  try {
    await writeFile(join(folder, 'values.json'), JSON.stringify(values));
    return await render(['--values', join(folder, 'values.json')]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
