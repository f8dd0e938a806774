import { expect } from 'chai';
import { Browser } from '../support/browser.ts';
import { MakeRun } from '../support/make-run.ts';
import { until } from '../support/until.ts';

describe('the link of make run, and make demo', function suite() {
  this.timeout(600_000);
  let run: MakeRun;
  beforeEach(async () => {
    run = await MakeRun.create();
  });
  afterEach(async () => {
    await run.remove();
  });
  const link = (): URL => new URL(/https:\S+\/once\/\S+/.exec(run.output.join('\n'))?.[0] ?? '');

  it('logs in to the console once, and shows the fleet of make demo what it sent', async () => {
    await run.start();
    const first = link();
    expect(first.origin).to.equal(`https://localhost:${run.ports.console}`);
    const reader = await run.reader();
    try {
      const [browser, other] = [new Browser(reader), new Browser(reader)];
      expect((await browser.get(first.pathname)).headers.location).to.equal(`${first.origin}/`);
      expect((await browser.get(first.pathname)).status, 'opened again by the same person').to.equal(303);
      expect((await other.get(first.pathname)).status, 'opened by somebody else').to.equal(410);
      expect((await browser.get('/')).headers.location).to.equal('/o/demo/');

      const demo = run.demo(300);
      await until('the address of the console', () => /Watch it: https:/.test(demo.output.join('\n')), 120_000);
      await until(
        'a living page',
        async () => {
          const page = await browser.get('/o/demo/executions', { accept: 'text/html' });
          return page.status === 200 && page.body.includes('/o/demo/executions/');
        },
        120_000,
      );
      expect(await demo.exited, demo.output.join('\n')).to.equal(0);
      const output = demo.output.join('\n');
      expect(output).to.include('The record holds just what was sent.');
      for (const verdict of ['missing', 'overrunning', 'failing']) expect(output).to.match(new RegExp(` ${verdict} `));
      await run.interrupt();

      await run.start();
      expect(link().pathname).to.not.equal(first.pathname);
      expect((await other.get(first.pathname)).status, 'a link of an earlier process').to.equal(410);
      expect((await browser.get('/o/demo/executions')).status, 'the session').to.equal(200);
    } finally {
      reader.close();
      await run.interrupt();
    }
  });
});
