import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { acceptEvent, type AcceptedEvent } from '../../../internal/event/event.ts';
import { heldBytes, heldTextBytes } from '../../../internal/event/held-bytes.ts';
import { createIdentitySource } from '../../../internal/event/identity.ts';

describe('held bytes', () => {
  const identify = createIdentitySource();
  const texts = {
    'no text': '',
    ASCII: 'x'.repeat(2_000),
    'Latin-1': 'é'.repeat(2_000),
    'one character beyond Latin-1 at the end': `${'x'.repeat(1_999)}✓`,
    'characters of two units': '🚀'.repeat(1_000),
  };

  function parsed(description: string): AcceptedEvent {
    const body = { automation_id: randomUUID(), execution_id: randomUUID(), event: 'START' as const, description };
    return acceptEvent(JSON.parse(JSON.stringify(body)) as typeof body, 'acme', identify());
  }

  for (const [name, text] of Object.entries(texts)) {
    it(`is what an event with ${name} takes in memory, within a third`, () => {
      const many = 2_000;
      const before = heapUsed();
      const events = Array.from({ length: many }, () => parsed(text));
      const taken = (heapUsed() - before) / many;
      const [first = parsed(text)] = events;
      expect(heldBytes(first) / taken).to.be.within(2 / 3, 4 / 3);
    });
  }

  it('counts one byte a character up to U+00FF, else two', () => {
    expect(heldTextBytes('é'.repeat(100)) - heldTextBytes('é'.repeat(99))).to.equal(1);
    expect(heldTextBytes('✓'.repeat(100)) - heldTextBytes('✓'.repeat(99))).to.equal(2);
  });
});

/** Bytes of V8's heap after a collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
