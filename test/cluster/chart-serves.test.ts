import { expect } from 'chai';
import { createToken } from '../../internal/tokens/manifest.ts';
import { createKeyPair, type KeyPair } from '../support/certificate.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import type { BundledPostgres } from '../support/node/bundled.ts';
import { Image, imageName } from '../support/node/image.ts';
import { IngressController } from '../support/node/ingress.ts';
import type { Pod } from '../support/node/pod.ts';
import { Release } from '../support/node/release.ts';
import { TestNode, type HttpAnswer } from '../support/node/test-node.ts';
import { until } from '../support/until.ts';

const host = 'events.example.com';
const automation = '6f1c2b54-8d3e-4c6a-9f70-2a4d5e6b7c81';

describe('an installed release', function () {
  // The image is built, the first time on a base made from nothing.
  this.timeout(120_000);
  let cluster: Cluster;
  let release: Release;
  let image: Image;
  let node: TestNode;
  let postgres: BundledPostgres;
  let ingest: Pod[];
  let worker: Pod;
  let certificate: KeyPair;

  before(async function () {
    this.timeout(900_000);
    cluster = sharedCluster();
    [image, release] = await Promise.all([Image.build(), Release.prepare(cluster)]);
    const built = ['--set', `image.repository=${imageName.repository},image.tag=${imageName.tag}`];
    await release.install(...(await release.valuesOf('ingress-nginx')), ...built);
    node = await TestNode.start(cluster, release, image);
    postgres = await node.startPostgres('runledger-postgresql');
    await node.startRedis('runledger-redis');
    worker = await node.startPod('runledger-worker');
    ingest = [await node.startPod('runledger-ingest'), await node.startPod('runledger-ingest')];
    for (const pod of [...ingest, worker]) await node.ready(pod);
    certificate = await createKeyPair(host);
    const ingress = await node.read(`/apis/networking.k8s.io/v1/namespaces/${release.namespace}/ingresses/runledger`);
    const upstreams = ingest.map(({ place }) => `${place.address}:8080`);
    const controller = await IngressController.start(ingress, certificate, upstreams, node.network.node);
    node.endWithNode(() => controller.stop());
    await node.startService('runledger', ingest, { 80: 8080 });
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    await image?.[Symbol.asyncDispose]();
    await release?.cleanUp();
  });

  /** A request as a caller makes it, through the ingress controller. */
  const call = (scheme: 'http' | 'https', path: string, ...args: string[]): Promise<HttpAnswer> => {
    const { address } = node.network.node;
    const resolve = [80, 443].flatMap((port) => ['--resolve', `${host}:${port}:${address}`]);
    return node.curl(`${scheme}://${host}${path}`, '--insecure', ...resolve, ...args);
  };

  const register = (token: string, execution: string, event: string): Promise<HttpAnswer> => {
    const body = JSON.stringify({ automation_id: automation, execution_id: execution, event });
    return call('https', '/v1/register/', '-H', `token: ${token}`, '--json', body);
  };

  const createOrganization = async (organization: string): Promise<string> => {
    const token = createToken();
    await cluster.admin.must('POST', `/api/v1/namespaces/${release.tokensNamespace}/secrets`, {
      metadata: { name: organization, labels: { 'runledger.dev/organization': organization } },
      stringData: { token },
    });
    return token;
  };

  it('answers plain HTTP with 301 for every method', async () => {
    for (const method of ['POST', 'GET', 'PUT', 'DELETE']) {
      const answer = await call('http', '/v1/register/', '-X', method);
      expect(answer, method).to.include({ status: 301, location: `https://${host}/v1/register/` });
    }
    const posted = await call('http', '/v1/register/', '--json', '{"event":"START"}', '-H', `token: ${createToken()}`);
    expect(posted).to.include({ status: 301, location: `https://${host}/v1/register/` });
  });

  it('accepts events of an organization as soon as its Secret exists, and reports the outcome', async () => {
    expect((await register(createToken(), 'refused', 'START')).status).to.equal(401);
    const token = await createOrganization('acme');
    await until(
      'the token works',
      async () => ((await register(token, 'good', 'START')).status === 201 ? true : undefined),
      3_000,
    );
    for (const [execution, event] of [
      ['good', 'END'],
      ['bad', 'START'],
      ['bad', 'ERROR'],
      ['bad', 'END'],
    ] as const) {
      expect((await register(token, execution, event)).status).to.equal(201);
    }
    const rows = await until('all events are stored', async () => {
      const [count] = await postgres.query(`select count(*)::int as events from events where organization = 'acme'`);
      return Number(count?.['events']) >= 5 ? outcomes() : undefined;
    });
    expect(rows).to.deep.equal([
      { execution_id: 'bad', state: 'failed' },
      { execution_id: 'good', state: 'succeeded' },
    ]);
  });

  const outcomes = () =>
    postgres.query(`select execution_id, state from executions where organization = 'acme' order by execution_id`);

  it('passes helm test, which leaves nothing behind', async () => {
    expect(await node.helmTest()).to.include('ok: event over HTTPS: 201');
    const left = (await release.objects()).filter((object) => object.endsWith('-test'));
    expect(left).to.deep.equal([]);
    const path = `/api/v1/namespaces/${release.tokensNamespace}/secrets/runledger-test`;
    expect((await cluster.admin.call('GET', path)).status).to.equal(404);
  });

  it('finishes its work before it stops', async () => {
    const began = performance.now();
    expect(await Promise.all([...ingest, worker].map((pod) => pod.terminate()))).to.deep.equal([0, 0, 0]);
    expect(performance.now() - began).to.be.lessThan(25_000);
  });
});
