import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { heldTextBytes } from '../../../internal/event/held-bytes.ts';

/** In a process of its own: what other tests leave to the collector would count. */
const script = `
  import { randomUUID } from 'node:crypto';
  import { acceptEvent } from '${new URL('../../../internal/event/event.ts', import.meta.url).href}';
  import { heldBytes } from '${new URL('../../../internal/event/held-bytes.ts', import.meta.url).href}';
  import { createIdentitySource } from '${new URL('../../../internal/event/identity.ts', import.meta.url).href}';
  const identify = createIdentitySource();
  const parsed = (description) => {
    const body = { automation_id: randomUUID(), execution_id: randomUUID(), event: 'START', description };
    return acceptEvent(JSON.parse(JSON.stringify(body)), 'acme', identify());
  };
  const heapUsed = () => (gc(), process.memoryUsage().heapUsed);
  const ratioOf = (text) => {
    const before = heapUsed();
    const events = Array.from({ length: 2_000 }, () => parsed(text));
    const taken = (heapUsed() - before) / events.length;
    return heldBytes(events[0]) / taken;
  };
  const texts = JSON.parse(process.argv.at(-1));
  // What the start and the compiler leave behind is collected meanwhile.
  texts.map(ratioOf);
  console.log(JSON.stringify(texts.map(ratioOf)));
`;

describe('held bytes', () => {
  const texts = {
    'no text': '',
    ASCII: 'x'.repeat(2_000),
    'Latin-1': 'é'.repeat(2_000),
    'one character beyond Latin-1 at the end': `${'x'.repeat(1_999)}✓`,
    'characters of two units': '🚀'.repeat(1_000),
  };

  it('are what an event takes in memory, within a third', () => {
    const options = ['--expose-gc', '--no-warnings', '--input-type=module', '--eval', script, '--'];
    const output = execFileSync(process.execPath, [...options, JSON.stringify(Object.values(texts))], {
      encoding: 'utf8',
    });
    const ratios = JSON.parse(output) as number[];
    for (const [index, name] of Object.keys(texts).entries()) expect(ratios[index], name).to.be.within(2 / 3, 4 / 3);
  });

  it('are one byte a character up to U+00FF, else two', () => {
    expect(heldTextBytes('é'.repeat(100)) - heldTextBytes('é'.repeat(99))).to.equal(1);
    expect(heldTextBytes('✓'.repeat(100)) - heldTextBytes('✓'.repeat(99))).to.equal(2);
  });
});
