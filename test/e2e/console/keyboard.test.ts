import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { suiteBrowser } from '../../support/suite-browser.ts';

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

  it('reaches every link, button and field with Tab, and shows where it is', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/errors');
    const wanted = await page.evaluate<number>(`[...document.querySelectorAll('a[href], button, input, summary')]
      .filter((e) => e.checkVisibility() && !e.closest('details:not([open]) .panel') && e.tabIndex >= 0).length`);
    const seen = new Set<string>();
    for (let step = 0; step < wanted; step += 1) {
      await page.keyboard.press('Tab');
      const { place, outline } = await page.evaluate<{ place: string; outline: string }>(`{
        const e = document.activeElement;
        const all = [...document.querySelectorAll('*')];
        ({ place: e.tagName + all.indexOf(e), outline: getComputedStyle(e).outlineStyle });
      }`);
      expect(outline, place).to.not.equal('none');
      seen.add(place);
    }
    expect(seen.size).to.equal(wanted);
  });
});
