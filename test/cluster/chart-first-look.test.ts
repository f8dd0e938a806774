import { expect } from 'chai';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { Image, imageName } from '../support/node/image.ts';
import type { Pod } from '../support/node/pod.ts';
import { Release } from '../support/node/release.ts';
import { TestNode } from '../support/node/test-node.ts';

describe('a release without any values', function () {
  this.timeout(900_000);
  let release: Release;
  let image: Image;
  let node: TestNode;
  let ingest: Pod;

  before(async () => {
    [image, release] = await Promise.all([Image.build(), Release.prepare(sharedCluster())]);
    const built = `image.repository=${imageName.repository},image.tag=${imageName.tag}`;
    await release.install('--set', built);
    node = await TestNode.start(sharedCluster(), release, image);
    // Ingest before Redis: a cluster starts everything at once.
    ingest = await node.startPod('runledger-ingest');
    await node.startRedis('runledger-redis');
    await node.startService('runledger', [ingest], { 80: 8080, 443: 8443 });
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    await image?.[Symbol.asyncDispose]();
    await release?.cleanUp();
  });

  it('becomes ready in any start order, and ends TLS in the pod', async () => {
    await node.ready(ingest);
    const log = await node.helmTest();
    expect(log.trim().split('\n')).to.deep.equal([
      'ok: POST over plain HTTP: 301',
      'ok: ping over HTTPS: 200',
      'ok: event over HTTPS: 201',
    ]);
  });
});
