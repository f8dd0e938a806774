import { expect } from 'chai';
import { KnownAutomations } from '../../../internal/controller/declarations/known-automations.ts';
import type { ResourceManifest } from '../../../internal/controller/declarations/manifest.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

function version(resourceVersion: string, generation: number, rest: Partial<ResourceManifest> = {}): ResourceManifest {
  return { metadata: { uid: 'uid-1', generation, resourceVersion }, spec: { automationId }, ...rest };
}

describe('the known automations of a cluster', () => {
  it('stay the same object when only the status is new, and have the new status', () => {
    const known = new KnownAutomations();
    const first = known.take(version('1', 1));
    const status = { observedGeneration: 1 };
    expect(known.take(version('2', 1, { status }))).to.equal(first);
    expect(first.manifest).to.deep.include({ status, metadata: { uid: 'uid-1', generation: 1, resourceVersion: '2' } });
    expect(known.take(version('3', 1, { status: undefined })).manifest.status).to.equal(undefined);
  });

  it('keep no spec as it was given', () => {
    expect(new KnownAutomations().take(version('1', 1)).manifest).not.to.have.property('spec');
  });

  it('are checked again with each generation, and forgotten when they are gone', () => {
    const known = new KnownAutomations();
    const first = known.take(version('1', 1));
    const wrong = known.take(version('2', 2, { spec: { automationId: 'none' } }));
    expect(wrong).not.to.equal(first);
    expect(wrong.read?.problems).to.deep.equal(['automationId: must be a UUID']);
    known.keep([wrong]);
    expect(known.take(version('2', 2))).to.equal(wrong);
    known.keep([]);
    expect(known.take(version('2', 2))).not.to.equal(wrong);
  });

  it('keep a bounded number of bytes of a namespace, and of the others all', () => {
    const known = new KnownAutomations();
    const links = Array.from({ length: 20 }, () => ({
      title: 'x'.repeat(200),
      url: `https://acme/${'y'.repeat(1_900)}`,
    }));
    const take = (namespace: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        known.take({
          metadata: { uid: `${namespace}-${index}`, namespace, generation: 1 },
          spec: { automationId, links },
        }),
      );
    const hostile = take('hostile', 300);
    const kept = hostile.filter(({ read }) => read !== undefined);
    expect(kept.length).to.be.within(90, 110);
    expect(take('quiet', 50).every(({ read }) => read?.spec !== undefined)).to.equal(true);
    known.keep(hostile.slice(50));
    expect(take('hostile', 300).filter(({ read }) => read !== undefined).length).to.equal(kept.length);
  });
});
