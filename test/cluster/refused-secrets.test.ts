import { expect } from 'chai';
import { createLogger } from '../../internal/kit/telemetry/logger.ts';
import { createToken } from '../../internal/cluster/tokens/manifest.ts';
import { SecretTokenSource } from '../../internal/cluster/tokens/secret-token-source.ts';
import { until } from '../support/until.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { capturedMetrics } from '../support/cluster/token-fixtures.ts';

const replicas = 5;

interface SecretEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

describe(`a refused Secret, seen by ${replicas} replicas`, () => {
  let tenancy: Tenancy;
  let sources: SecretTokenSource[];
  let lists: (() => Promise<number>)[];

  beforeEach(async () => {
    tenancy = await createTenancy();
    const logger = createLogger('test', 'silent');
    const { connect, tokens: namespace } = tenancy;
    const observed = Array.from({ length: replicas }, capturedMetrics);
    const times = { relistMs: 500, overlapMs: 500 };
    sources = observed.map(({ metrics }) => new SecretTokenSource({ connect, namespace, logger, metrics, times }));
    lists = observed.map((one) => () => one.value('runledger_token_last_list_timestamp_seconds'));
    await Promise.all(sources.map((source) => source.start()));
    await until('all replicas ready', () => sources.every((source) => source.unready() === undefined));
  });
  afterEach(() => Promise.all(sources.map((source) => source.stop())));

  /** What `kubectl events --for secret/NAME` shows. */
  async function eventsOf(name: string): Promise<SecretEvent[]> {
    const selector = encodeURIComponent(`involvedObject.kind=Secret,involvedObject.name=${name}`);
    const path = `/api/v1/namespaces/${tenancy.tokens}/events?fieldSelector=${selector}`;
    return (await sharedCluster().admin.must('GET', path))['items'] as SecretEvent[];
  }

  /**
   * When every replica has listed all Secrets again, twice: whatever it had to say has been said.
   */
  async function settled(): Promise<void> {
    for (const listedAt of lists) {
      for (let turn = 0; turn < 2; turn += 1) {
        const before = await listedAt();
        await until('another list', async () => (await listedAt()) > before);
      }
    }
  }

  const has = (name: string, count: number) =>
    until(`${count} Events on ${name}`, async () => (await eventsOf(name)).length === count);

  it('gets one Warning for each change that leaves it refused, and none when it is corrected', async () => {
    await tenancy.put('acme', 'acme', { 'token-1': 'tiny-secret', 'token-2': createToken() });
    await has('acme', 1);
    await settled();
    expect(await eventsOf('acme')).to.have.length(1);
    expect((await eventsOf('acme'))[0]).to.deep.include({
      type: 'Warning',
      reason: 'TokenRefused',
      message: 'token-1: the token is shorter than 16 characters',
    });

    await tenancy.put('acme', 'acme', { 'token-1': ' ', 'token-2': createToken() });
    await has('acme', 2);
    await tenancy.put('acme', 'acme', { 'token-2': createToken() });
    await settled();
    expect(await eventsOf('acme')).to.have.length(2);
    expect(JSON.stringify(await eventsOf('acme'))).not.to.contain('tiny-secret');
  });

  it('names the other Secret that has the same token', async () => {
    const token = createToken();
    await tenancy.put('acme', 'acme', { token });
    await tenancy.put('globex', 'globex', { token });
    await Promise.all([has('acme', 1), has('globex', 1)]);
    expect(sources.map((source) => source.authenticate(token).status)).to.deep.equal(Array(replicas).fill('unknown'));
    await settled();
    const [onAcme, onGlobex] = [await eventsOf('acme'), await eventsOf('globex')];
    expect([onAcme.length, onGlobex.length]).to.deep.equal([1, 1]);
    expect(onAcme[0]?.message).to.contain('another organization has the same token').and.contain('see Secret globex');
    expect(onGlobex[0]?.message).to.contain('see Secret acme');

    await tenancy.delete('globex');
    await until('acme served', () => sources.every((source) => source.authenticate(token).status === 'known'));
  });
});
