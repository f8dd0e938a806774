import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseManifests } from '../support/helm-manifests.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { repository } from '../support/helm.ts';

/** Where the API server takes objects of a kind: in a namespace, or without one. */
const collections: Readonly<Record<string, string>> = {
  CronJob: '/apis/batch/v1/namespaces/default/cronjobs',
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  Service: '/api/v1/namespaces/default/services',
  StatefulSet: '/apis/apps/v1/namespaces/default/statefulsets',
  PriorityClass: '/apis/scheduling.k8s.io/v1/priorityclasses',
};

describe('the examples', () => {
  // chart-install.test.ts installs production-values.yaml, which uses redis.yaml and priority.yaml.
  for (const file of ['cronjob.yaml', 'redis.yaml', 'priority.yaml']) {
    it(`of ${file} are accepted by the API server, which knows each of their fields`, async () => {
      const manifests = parseManifests(await readFile(join(repository, 'deploy/examples', file), 'utf8'));
      expect(manifests).not.to.have.length(0);
      for (const { kind, metadata, ...rest } of manifests) {
        const { namespace: _, ...named } = metadata;
        const path = `${collections[kind] ?? kind}?dryRun=All&fieldValidation=Strict`;
        const { status, text } = await sharedCluster().admin.call('POST', path, { kind, metadata: named, ...rest });
        expect(status, text).to.equal(201);
      }
    });
  }
});
