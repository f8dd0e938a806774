import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createMisbehaving, verdictTable } from '../../../cmd/demo/expected.ts';
import type { DemoEvent } from '../../../cmd/demo/fleet.ts';

describe('the verdicts of the demo', () => {
  it('come although a gap in the record hid the first run: the automation runs again', async () => {
    const sent: DemoEvent[] = [];
    const [, crawler] = createMisbehaving();
    if (crawler === undefined) throw new Error('the demo has no automation that overruns');
    const console = createServer((_, response) => {
      const verdict =
        sent.length === 0 ? { kind: 'unknown', reason: 'a gap' } : { kind: 'overrunning', reason: 'too long' };
      response.end(JSON.stringify({ declaration: { verdicts: [verdict] } }));
    });
    await new Promise<void>((resolve) => console.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(console.address() as AddressInfo).port}`;
    const send = async (event: DemoEvent): Promise<void> => void sent.push(event);
    try {
      expect(await verdictTable([crawler], send, url, 'token')).to.match(/^ {2}stuck-crawler +overrunning +too long$/);
    } finally {
      console.closeAllConnections();
      console.close();
    }
    expect(sent).to.have.lengthOf(1);
    expect(sent[0]).to.include({ automation_id: crawler.id, event: 'START' });
  });
});
