import { expect } from 'chai';
import { keepResource } from '../../../internal/controller/declarations/keep-resource.ts';
import { SharedTexts } from '../../../internal/controller/declarations/shared-texts.ts';

const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Accepted',
  message: 'declared for organization acme',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

describe('what is kept of a resource', () => {
  it('is its identity, its status and the time of that, and no label or managed field', () => {
    const identity = {
      name: 'one',
      namespace: 'acme',
      uid: 'uid-1',
      resourceVersion: '7',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    const managedFields = [
      { subresource: 'status', time: '2026-01-01T00:00:05Z' },
      { subresource: 'status', time: '2026-01-01T00:00:04Z' },
      { time: '2026-01-01T00:00:09Z' },
    ];
    const lastExecution = { executionId: 'run-1', state: 'failed', startedAt: '2026-01-01T00:00:01Z' };
    const status = { observedGeneration: 2, lastExecution, conditions: [condition] };
    const metadata = { ...identity, labels: { team: 'billing' }, annotations: { note: 'x' }, managedFields };
    const kept = keepResource({ metadata, spec: { suspend: true }, status }, new SharedTexts());
    expect(kept).to.deep.equal({
      metadata: identity,
      spec: { suspend: true },
      status,
      statusAt: '2026-01-01T00:00:05Z',
    });
  });

  it('is little of a resource that has only a name', () => {
    const { metadata, status, statusAt } = keepResource({ metadata: { name: 'one' } }, new SharedTexts());
    expect([metadata?.name, metadata?.generation, status, statusAt]).to.deep.equal([
      'one',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
