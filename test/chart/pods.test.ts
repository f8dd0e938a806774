import { expect } from 'chai';
import { chart, helm, render, renderWith } from '../support/helm.ts';
import { specOf, thePod, type Manifest } from '../support/helm-manifests.ts';

for (const name of ['ingest', 'worker']) {
  const deployment = (manifests: Manifest[]) => specOf<object>(manifests, 'Deployment', `runledger-${name}`);

  describe(`chart, pods of ${name}`, () => {
    for (const [values, expected] of [
      [['replicaCount=3'], { replicas: 3 }],
      [['strategy.type=Recreate'], { strategy: { type: 'Recreate' } }],
      [
        ['strategy.rollingUpdate.maxSurge=50%'],
        {
          strategy: {
            type: 'RollingUpdate',
            rollingUpdate: { maxUnavailable: 0, maxSurge: '50%' },
          },
        },
      ],
    ] as const) {
      it(`are as many, and replaced, as ${values.join(' and ')} says`, async () => {
        const manifests = await renderWith(...values.map((value) => `${name}.${value}`));
        expect(deployment(manifests)).to.deep.include(expected);
      });
    }

    it('get volumes, init containers, a runtime class and a spread from the values as they are', async () => {
      const given = {
        runtimeClassName: 'gvisor',
        initContainers: [{ name: 'proxy', image: 'example.com/proxy:1.0.0', restartPolicy: 'Always' }],
        extraVolumes: [{ name: 'extra', emptyDir: { medium: 'Memory' } }],
        extraVolumeMounts: [{ name: 'extra', mountPath: '/extra', subPath: 'a' }],
        topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
      };
      const pod = thePod(await render(['--set-json', `${name}=${JSON.stringify(given)}`]), `runledger-${name}`);
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
    const manifests = await renderWith('ingest.runtimeClassName=gvisor');
    expect(specOf(manifests, 'Pod', 'runledger-test')).to.include({ runtimeClassName: 'gvisor' });
  });
});
