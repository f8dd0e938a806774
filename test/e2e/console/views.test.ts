import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Route } from 'playwright-core';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { lockRecord } from '../../support/reading.ts';
import { executionWith } from '../../support/some-execution.ts';
import { suiteBrowser } from '../../support/suite-browser.ts';

describe('views of the console', () => {
  const suite = suiteBrowser();
  const store = (...given: Parameters<typeof anEvent>[0][]): Promise<unknown> =>
    recordEvents(
      suite.database.db,
      given.map((fields) =>
        anEvent({ automationId: '0190a0b0-0000-7000-8000-0000000000bb', createdAt: Date.now(), ...fields }),
      ),
    );

  it('are their addresses: the same after a reload, back, and in another browser', async () => {
    await using opened = await suite.open();
    const { page, complaints } = opened;
    const shown = (): Promise<string[]> => page.locator('#rows .row-link').allTextContents();
    await page.goto('/o/acme/executions');
    await page.click('.segments >> text=Failed');
    await page.waitForURL('**/executions?state=failed');
    const failed = await shown();
    expect(failed).to.have.length.above(0);
    await page.reload();
    expect(await shown()).to.deep.equal(failed);
    await page.click('#rows .row-link');
    await page.waitForURL('**/executions/*/*');
    await page.goBack();
    await page.waitForURL('**/executions?state=failed');
    expect(await shown()).to.deep.equal(failed);
    await using other = await suite.open();
    await other.page.goto(page.url());
    expect(await other.page.locator('#rows .row-link').allTextContents()).to.deep.equal(failed);
    expect([...complaints, ...other.complaints]).to.deep.equal([]);
  });

  it('load more rows in place, and all of them again', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/executions');
    await page.click('#more a');
    await page.locator('#rows tr').nth(99).waitFor();
    expect(new URL(page.url()).searchParams.get('limit')).to.equal('100');
    const rows = await page.locator('#rows .row-link').allTextContents();
    expect(new Set(rows).size).to.equal(100);
    await page.reload();
    expect(await page.locator('#rows .row-link').allTextContents()).to.deep.equal(rows);
    const pageWithoutScripts = await suite.open({ javaScriptEnabled: false });
    await pageWithoutScripts.page.goto('/o/acme/executions');
    await pageWithoutScripts.page.click('#more a');
    expect(await pageWithoutScripts.page.locator('#rows .row-link').allTextContents()).to.deep.equal(rows.slice(50));
    await pageWithoutScripts[Symbol.asyncDispose]();
  });

  it('show new executions on demand, and changes in place: nothing moves', async () => {
    await using opened = await suite.open();
    const { page, complaints } = opened;
    await store({ executionId: 'changing', kind: 'START' });
    await page.goto('/o/acme/executions');
    await page.waitForSelector('[data-live][data-state=on]');
    const row = page.locator('#rows tr', { hasText: 'changing' });
    const before = await row.boundingBox();
    await store({ executionId: 'brand new', kind: 'START' }, { executionId: 'changing', kind: 'END' });
    await page.waitForSelector('[data-pill]:not([hidden])');
    await row.locator('.succeeded').waitFor();
    expect(await row.boundingBox()).to.deep.equal(before);
    expect(await page.innerText('[data-pill]')).to.contain('1 new execution');
    await page.keyboard.press('n');
    expect(await page.locator('#rows .row-link').first().innerText()).to.equal('brand new');
    expect(complaints).to.deep.equal([]);
  });

  it('of one execution follow its events', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await store({ executionId: 'followed', kind: 'START' });
    await page.goto('/o/acme/executions/0190a0b0-0000-7000-8000-0000000000bb/followed');
    await page.waitForSelector('.big-state .running');
    // Between the page and its stream.
    const storeAnError = async (route: Route): Promise<void> => {
      await store({ executionId: 'followed', kind: 'ERROR', errorId: 'E-1', errorDescription: 'it broke' });
      await route.continue();
    };
    await page.route('**/followed/live', storeAnError, { times: 1 });
    await page.reload();
    await page.waitForSelector('.big-state .failed');
    await store({ executionId: 'followed', kind: 'END' });
    await page.locator('.timeline .step').nth(2).waitFor();
    expect(await page.innerText('.failure pre')).to.equal('it broke');
    expect(await page.locator('.timeline .step').count()).to.equal(3);
  });

  it('of the tail pause while one scrolls back, and jump to the end', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/tail');
    await page.waitForSelector('[data-live][data-state=on]');
    await store({ executionId: 'tailed', kind: 'EVENT', description: 'first line' });
    await page.waitForSelector('[data-tail] >> text=first line');
    await page.evaluate('document.querySelector("[data-tail]").scrollTop = 0');
    await page.waitForSelector('[data-end]:not([hidden])');
    await store({ executionId: 'tailed', kind: 'EVENT', description: 'second line' });
    await page.waitForSelector('[data-end] >> text=1 new');
    expect(await page.evaluate('document.querySelector("[data-tail]").scrollTop')).to.equal(0);
    await page.click('[data-end]');
    await page.waitForSelector('[data-tail] >> text=second line');
    await page.waitForSelector('[data-end]', { state: 'hidden' });
    await page.goto('/o/acme/tail?kind=ERROR');
    expect(await page.locator('[data-tail] .kind:not(.error)').count()).to.equal(0);
  });

  it('stay, and say so, when the session ends', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/executions?state=failed');
    const rows = await page.locator('#rows tr').count();
    suite.viewer = undefined;
    await page.evaluate('htmx.ajax("GET", location.href, "#more")');
    await page.waitForSelector('#session-ended:not([hidden])');
    expect(await page.locator('#rows tr').count()).to.equal(rows);
    expect(await page.getAttribute('[data-login]', 'href')).to.equal(
      '/login?to=%2Fo%2Facme%2Fexecutions%3Fstate%3Dfailed',
    );
  });

  it('become live even if the console rejected their stream at first', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    let refused = 0;
    const refuse = (route: Route): Promise<void> => {
      refused += 1;
      return route.fulfill({ status: 503 });
    };
    await page.route('**/executions/live', refuse, { times: 1 });
    await page.goto('/o/acme/executions');
    await page.waitForSelector('[data-live][data-state=on]');
    expect(refused).to.equal(1);
  });

  it('become live, whichever of their scripts arrives last', async () => {
    for (const late of ['console', 'htmx']) {
      await using opened = await suite.open();
      const { page } = opened;
      await page.route(`**/static/${late}.*.js`, async (route) => {
        const parsed = page.waitForFunction('document.readyState === "interactive"', undefined, { polling: 50 });
        const idle = parsed.then(() =>
          page.evaluate('new Promise((idle) => requestIdleCallback(idle, { timeout: 1_000 }))'),
        );
        // A busy browser may lose the question while it opens the page.
        await Promise.race([idle, sleep(5_000)]).catch(() => undefined);
        await route.continue();
      });
      await page.goto('/o/acme/executions');
      await page.waitForSelector('[data-live][data-state=on]');
    }
  });

  it('say that Postgres does not answer, and work again afterwards', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    const slow = await suite.withConsole({ READ_STATEMENT_TIMEOUT_MS: '2000' });
    await page.goto(`${slow}/o/acme/executions`);
    const unlock = await lockRecord(suite.database);
    const answer = await page.goto(`${slow}/o/acme/`);
    expect(answer?.status()).to.equal(503);
    expect(await page.innerText('h1')).to.equal('The record cannot be read right now');
    await page.goBack();
    await page.click('#more a');
    await page.waitForSelector('#more .notice, .notice >> text=Try again');
    await unlock();
    await page.click('text=Try again');
    await page.locator('#rows tr').nth(99).waitFor();
  });

  it('copy ids, and an execution as JSON', async () => {
    await using opened = await suite.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = opened;
    const path = await executionWith(suite.database, 'failed');
    await page.goto(`/o/acme/executions/${path}`);
    const copied = async (button: string): Promise<string> => {
      // It is shown for 2 s.
      await Promise.all([page.waitForSelector('.announcer >> text=Copied'), page.click(button)]);
      await page.waitForSelector('.announcer:empty', { state: 'attached' });
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    expect(await copied('h1 .copy')).to.equal(decodeURIComponent(path.split('/')[1] ?? ''));
    const json = JSON.parse(await copied('[data-copy-from]')) as { state: string; events: unknown[] };
    expect(json.state).to.equal('failed');
    expect(json.events).to.have.length.above(2);
  });
});

describe('the console without a record', () => {
  const suite = suiteBrowser({ isEmpty: true });

  for (const path of ['', 'automations', 'executions', 'tail']) {
    it(`says how to send the first event, with the address of ingest: /${path}`, async () => {
      await using opened = await suite.open();
      await opened.page.goto(`/o/acme/${path}`);
      expect(await opened.page.innerText('.empty pre')).to.contain('curl https://ingest.example/v1/register/');
      expect(opened.complaints).to.deep.equal([]);
    });
  }

  it('fills with the first event, and the three steps turn into the Overview, without a reload', async () => {
    await using waiting = await suite.open();
    const overview = waiting.page;
    await overview.goto('/o/acme/');
    await overview.waitForSelector('[data-live][data-state=on]');
    expect(await overview.locator('.steps > li').count()).to.equal(3);
    expect(await overview.locator('.tiles').count()).to.equal(0);
    await overview.evaluate(() => Object.assign(globalThis, { isTheSamePage: true }));
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/errors');
    expect(await page.innerText('.empty h2')).to.equal('No error in the last 24 hours');
    await page.goto('/o/acme/executions');
    await page.waitForSelector('[data-live][data-state=on]');
    // Viewers share figures for a while: here those from just before the event.
    await using other = await suite.open();
    await other.page.goto('/o/acme/');
    await recordEvents(suite.database.db, [anEvent({ executionId: 'the first', createdAt: Date.now() })]);
    await page.waitForSelector('#rows >> text=the first');
    expect(await page.locator('.empty').count()).to.equal(0);
    await overview.waitForSelector('.tiles');
    expect(await overview.locator('.steps').count()).to.equal(0);
    expect(await overview.evaluate(() => 'isTheSamePage' in globalThis)).to.equal(true);
    expect(waiting.complaints).to.deep.equal([]);
  });
});
