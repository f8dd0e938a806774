import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ada, suiteBrowser } from '../../support/suite-browser.ts';

const owner = { ...ada, owned: ['acme'] };

const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** The text of the element in focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement.textContent.trim()');
}

/** The page waits 1.5 s for the second key; its clock does not move in between. */
async function chord(page: Page, ...keys: string[]): Promise<void> {
  await page.clock.setFixedTime(new Date());
  for (const key of keys) await page.keyboard.press(key);
}

describe('the console by keyboard alone', () => {
  const suite = suiteBrowser();

  it('searches with /, moves with j and k, opens with Enter, goes with g', async () => {
    await using opened = await suite.open();
    const { page, complaints } = opened;
    await page.goto('/o/acme/');
    await chord(page, 'g', 'e');
    await page.waitForURL('**/executions');
    const rows = await page.locator('.row-link').allTextContents();
    await page.keyboard.press('j');
    expect(await focused(page)).to.equal(rows[0]);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await focused(page)).to.equal(rows[1]);
    const second = await page.evaluate<string>('document.activeElement.title');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/executions/*/*');
    expect(await page.innerText('h1 bdi')).to.equal(second);
    await page.goBack();

    await page.keyboard.press('/');
    await page.keyboard.type('slowly/j?');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/executions?q=slowly%2Fj%3F');
    expect(await page.inputValue('[data-search]')).to.equal('slowly/j?');
    expect(await page.innerText('.empty h2')).to.equal('No execution matches');
    expect(complaints).to.deep.equal([]);
  });

  it('reads the alerts, and sends a test of a channel', async () => {
    await using opened = await suite.open();
    const { page, complaints } = opened;
    await page.goto('/o/acme/');
    await chord(page, 'g', 'l');
    await page.waitForURL('**/alerts');
    const rows = await page.locator('.row-link').allTextContents();
    await page.keyboard.press('j');
    expect(await focused(page)).to.equal(rows[0]);
    const button = page.getByRole('button', { name: 'Send a test to incidents' });
    await button.focus();
    // The redirect would lead to the public address of the console.
    await page.route('**/channels/**', (route) => route.fulfill({ status: 204 }));
    const sent = page.waitForRequest('**/o/acme/channels/acme-automations/incidents/test');
    await page.keyboard.press('Enter');
    expect((await sent).method()).to.equal('POST');
    expect(complaints).to.deep.equal([]);
  });

  it('lists its keys with ?', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/tail');
    await page.keyboard.press('?');
    expect(await page.locator('dialog').isVisible()).to.equal(true);
    // Keys do nothing behind the list.
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog').isVisible()).to.equal(false);
    expect(pathOf(page)).to.equal('/o/acme/tail');
  });

  it('filters, chooses the zone, and walks through a chart', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/executions');
    await page.focus('.more-filters summary');
    await page.keyboard.press('Enter');
    await page.focus('[name=has]');
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/executions?has=warning');
    expect(await page.locator('#rows tr').count()).to.equal(await page.locator('#rows .counts .warning').count());

    const exact = (): Promise<string | null> => page.getAttribute('#rows time', 'title');
    expect(await exact()).to.match(/ \+0[12]:00$/);
    await page.focus('.top .menu summary');
    await page.keyboard.press('Enter');
    await page.focus('[name=zone][value=local]');
    // The page is loaded again, with all of its times in the zone.
    const loaded = page.waitForEvent('load');
    await page.keyboard.press('ArrowRight');
    await loaded;
    expect(await exact()).to.match(/ UTC$/);
    await page.focus('.top .menu summary');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(await page.locator('.top .panel').isVisible()).to.equal(false);

    await page.goto('/o/acme/');
    const bars = page.locator('.state-chart a');
    await bars.first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).to.equal(
      await bars.nth(1).getAttribute('aria-label'),
    );
    await page.keyboard.press('Enter');
    await page.waitForURL('**/executions?from=*&to=*');
  });

  for (const place of ['errors', 'settings/channels', 'settings/tokens', 'automations/new', 'mutes']) {
    it(`reaches every link, button and field with Tab, and shows where it is: ${place}`, async () => {
      suite.viewer = owner;
      await using opened = await suite.open();
      const { page } = opened;
      await page.goto(`/o/acme/${place}`);
      const wanted =
        await page.evaluate<number>(`[...document.querySelectorAll('a[href], button, input, select, summary')]
        .filter((e) => e.checkVisibility() && !e.closest('details:not([open]) > :not(summary)') && e.tabIndex >= 0).length`);
      const seen = new Set<string>();
      const next = async (): Promise<string> => {
        await page.keyboard.press('Tab');
        const { place: at, outline } = await page.evaluate<{ place: string; outline: string }>(`{
          const e = document.activeElement;
          const all = [...document.querySelectorAll('*')];
          ({ place: e.tagName + all.indexOf(e), outline: getComputedStyle(e).outlineStyle });
        }`);
        expect(outline, at).to.not.equal('none');
        return at;
      };
      for (let step = 0, last = ''; step < wanted; step += 1) {
        let at = await next();
        // A browser stops at each part of a date.
        while (at === last) at = await next();
        seen.add(at);
        last = at;
      }
      expect(seen.size).to.equal(wanted);
    });
  }

  const forms: Record<string, { keys: Record<string, string[]>; sent: Record<string, string> }> = {
    'settings/channels': {
      keys: { name: ['billing-chat'], type: ['ArrowDown'], url: ['https://chat.example/x'] },
      sent: { name: 'billing-chat', type: 'slack', url: 'https://chat.example/x' },
    },
    'settings/tokens': {
      keys: { name: ['Robot'], kind: ['ArrowDown'], '': [] },
      sent: { name: 'Robot', kind: 'read' },
    },
    'automations/new': {
      keys: { name: ['Invoices'], schedule: ['0 * * * *'], grace: ['5m'] },
      sent: { name: 'Invoices', schedule: '0 * * * *', grace: '5m' },
    },
    mutes: { keys: { note: ['The robot moves'] }, sent: { note: 'The robot moves' } },
  };
  for (const [place, { keys, sent }] of Object.entries(forms)) {
    it(`fills in and sends a form: ${place}`, async () => {
      suite.viewer = owner;
      await using opened = await suite.open();
      const { page, complaints } = opened;
      await page.goto(`/o/acme/${place}`);
      // The redirect would lead to the public address of the console.
      await page.route('**/o/acme/**', (route) =>
        route.request().method() === 'POST' ? route.fulfill({ status: 204 }) : route.continue(),
      );
      for (const [name, typed] of Object.entries(keys)) {
        do await page.keyboard.press('Tab');
        while ((await page.evaluate('document.activeElement.name ?? ""')) !== name);
        for (const text of typed) await (text === 'ArrowDown' ? page.keyboard.press(text) : page.keyboard.type(text));
      }
      const request = page.waitForRequest((one) => one.method() === 'POST');
      await page.keyboard.press('Enter');
      const form = Object.fromEntries(new URLSearchParams((await request).postData() ?? ''));
      expect(form).to.include(sent);
      expect(complaints).to.deep.equal([]);
    });
  }
});
