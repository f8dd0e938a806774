import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Acts } from '../../../internal/store/acts/acts.ts';
import { automations, named } from '../../support/fleet/history.ts';
import { addressOf, longest, longFailure, manyErrors } from '../../support/fleet/long-runs.ts';
import { executionWith } from '../../support/some-execution.ts';
import { suiteBrowser } from '../../support/suite-browser.ts';
import { until } from '../../support/until.ts';

const names = new Set(automations.map(({ name }) => name));

/** Where an element ends, in px from the top of the screen. */
function bottomOf(page: Page, selector: string): Promise<number> {
  return page.evaluate<number>(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().bottom`);
}

describe('the fleet in the console', () => {
  const suite = suiteBrowser();

  it('shows the failing event without scrolling, whatever its place and the length of its run', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    const any = `/o/acme/executions/${await executionWith(suite.database, 'failed')}`;
    for (const address of [addressOf(longFailure), addressOf(manyErrors), any]) {
      for (const [width, height] of [
        [1_440, 900],
        [390, 844],
        [360, 740],
      ] as const) {
        await page.setViewportSize({ width, height });
        await page.goto(address);
        expect(await bottomOf(page, '.failure .places'), `${address}, ${width} px`).to.be.below(height);
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, `${address}, ${width} px: wider than the screen`).to.be.at.most(0);
      }
    }
  });

  it('leads from the error to its place among 703 events, and to those of its kind', async () => {
    await using opened = await suite.open();
    const { page, complaints } = opened;
    await page.goto(addressOf(longFailure));
    expect(await page.innerText('.failure pre')).to.match(/^decimal\.InvalidOperation: amount/);
    expect(await page.locator('.timeline .step').count()).to.equal(500);
    expect(await page.locator('.timeline .gap').count(), 'lines for pauses of 1 s').to.equal(0);
    await page.click('text=Event 702 of 703 in the timeline');
    await page.waitForURL('**/settlement-703?around=*');
    const target = page.locator('.timeline .step:target');
    expect(await target.innerText()).to.contain('E-PARSE');
    expect((await target.boundingBox())?.y).to.be.within(0, 720);
    await page.click('.timeline-bar .segments >> text=ERROR');
    await page.waitForURL('**/settlement-703?kind=ERROR#*');
    expect(await page.locator('.timeline .step').count()).to.equal(1);
    await page.goto(addressOf(manyErrors));
    await page.click('text=and 29 more errors');
    await page.waitForURL('**?kind=ERROR#timeline-title');
    expect(await page.locator('.timeline .step').count()).to.equal(30);
    expect(complaints).to.deep.equal([]);
  });

  it('shows the whole name of who wrote a note', async () => {
    const by = 'Maximiliane von und zu Hohenstein-Sigmaringen';
    const act = { organization: 'acme', id: randomUUID(), by, note: 'Ticket 7', kind: 'note' } as const;
    const run = { automationId: named(manyErrors.name).id, executionId: manyErrors.executionId };
    expect(await new Acts(() => suite.database.db).add({ ...act, ...run })).to.equal(true);
    await using opened = await suite.open();
    const { page } = opened;
    await page.setViewportSize({ width: 1_280, height: 900 });
    await page.goto(addressOf(manyErrors));
    const name = page.locator('.kind.act').getByText(by);
    const box = await name.boundingBox();
    const cell = await page.locator('.kind.act').boundingBox();
    expect((box?.x ?? NaN) + (box?.width ?? NaN)).to.be.at.most((cell?.x ?? NaN) + (cell?.width ?? NaN) + 1);
  });

  it('shows a run of 5,000 events in pages of 500', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    const range = (): Promise<string> => page.innerText('#timeline-title + span');
    const turn = (to: string): Promise<unknown> =>
      Promise.all([page.waitForEvent('load'), page.locator(`.pager >> text=${to}`).first().click()]);
    await page.goto(addressOf(longest));
    expect(await range()).to.contain('Events 1 to 500 of 5,000');
    await turn('Later');
    expect(await range()).to.contain('Events 501 to 1,000 of 5,000');
    await turn('Last');
    expect(await range()).to.contain('Events 4,501 to 5,000 of 5,000');
    expect(await page.locator('.timeline .step').count()).to.equal(500);
  });

  for (const [screen, rows] of [
    ['executions', '#rows tr td:nth-child(3) .name'],
    ['errors?window=30d', '#rows tr td:nth-child(2) .name'],
    ['tail', '[data-tail] li .name'],
    ['automations', '.rows tbody tr td:first-child .name'],
  ] as const) {
    it(`names automations where a name is known, also on a phone: ${screen}`, async () => {
      await using opened = await suite.open({ viewport: { width: 390, height: 844 } });
      const { page } = opened;
      await page.goto(`/o/acme/${screen}`);
      const links = page.locator(rows);
      expect(await links.first().isVisible()).to.equal(true);
      const shown = await page.evaluate<[string, string][]>(
        `[...document.querySelectorAll(${JSON.stringify(rows)})].map((e) => [e.textContent.trim(), e.title])`,
      );
      const unnamed = new Set(automations.filter(({ name }) => name === undefined).map(({ id }) => id));
      for (const [text, title] of shown) {
        if (unnamed.has(title)) continue;
        expect(title, 'the whole name').to.contain(text);
        expect(text, title).to.not.match(/^[\da-f]{8}…/);
      }
      expect(shown.some(([text]) => names.has(text))).to.equal(true);
    });
  }

  it('has all times of a page in one zone: texts, titles, charts and fields', async () => {
    await using opened = await suite.open({ timezoneId: 'Asia/Tokyo' });
    const { page } = opened;
    const automation = `automations/${named('Report mailer').id}`;
    for (const path of ['', 'executions?from=2026-01-01T00:00:00Z', 'errors', 'tail', automation]) {
      await page.goto(`/o/acme/${path}`);
      const told = await page.evaluate<string[]>(
        `[...document.querySelectorAll('main [title], main title, main [aria-label], main time, .chip')]
          .flatMap((e) => [e.getAttribute?.('title'), e.getAttribute?.('aria-label'), e.textContent])
          .flatMap((text) => text?.match(/\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)? (?:UTC|[+−]\\d\\d:\\d\\d)/g) ?? [])`,
      );
      expect(told, path).to.have.length.above(0);
      expect(
        told.filter((text) => !text.endsWith('+09:00')),
        path,
      ).to.deep.equal([]);
    }
    await page.goto('/o/acme/executions');
    await page.click('.more-filters summary');
    expect(await page.innerText('.pair')).to.contain('From (Asia/Tokyo)');
    await page.fill('[name=from]', '2026-01-31T09:30');
    await page.click('.panel >> text=Apply');
    await page.waitForURL('**/executions?from=2026-01-31T00%3A30%3A00.000Z');
    expect(await page.innerText('.chip')).to.contain('2026-01-31 09:30 +09:00');
    await page.click('.more-filters summary');
    expect(await page.inputValue('.panel [name=from]')).to.equal('2026-01-31T09:30');
  });

  it('takes the name of an automation as a filter, and asks which one when several have it', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    const filter = async (text: string): Promise<void> => {
      await page.goto('/o/acme/executions');
      await page.click('.more-filters summary');
      await page.fill('[name=automation_id]', text);
      await page.click('.panel >> text=Apply');
    };
    await filter('sap UPLOAD');
    await page.waitForURL(`**/executions?automation_id=${named('SAP upload').id}`);
    expect(await page.innerText('.chip bdi')).to.equal('SAP upload');
    expect(await page.locator('#rows tr').count()).to.equal(50);
    await filter('import');
    await page.waitForURL(`**/executions?automation_id=${named('Order import (overlapping)').id}`);
    await filter('re');
    await page.waitForURL('**/executions?automation_id=re');
    await page.click('.choices >> text=Report mailer');
    await page.waitForURL(`**/executions?automation_id=${named('Report mailer').id}`);
    await filter('nobody');
    expect(await page.innerText('.empty h2')).to.equal('No automation has the name, owner or tag “nobody”');
  });

  it('leads from an error without an error_id to the runs that have it', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    await page.goto('/o/acme/errors?window=30d');
    const row = page.locator('#rows tr', { hasText: 'without an error_id' }).first();
    const count = Number(await row.locator('td').nth(2).innerText());
    await row.locator('.row-link').click();
    await page.waitForURL('**/executions?error_id=&*');
    expect(await page.locator('#rows tr').count()).to.equal(count);
    expect(await page.locator('.chip', { hasText: 'without an error_id' }).count()).to.equal(1);
  });

  it('says that it is behind, and is not live, while no controller is at work', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    const ticked = (minutesAgo: number | null): Promise<unknown> => {
      const ticked_at = minutesAgo === null ? null : new Date(Date.now() - minutesAgo * 60_000);
      return suite.database.db.updateTable('controller_state').set({ ticked_at, watermark: ticked_at }).execute();
    };
    await page.goto('/o/acme/');
    await page.waitForSelector('[data-live][data-state=on]');
    await ticked(7);
    try {
      // An open page learns it by itself: its notice asks every 15 s.
      await page.waitForSelector('#blindness[data-behind] >> text=Runledger is behind by 7 min', { timeout: 40_000 });
      expect(await page.innerText('[data-live]')).to.equal('Behind');
      for (const path of ['', 'automations', 'executions']) {
        await page.goto(`/o/acme/${path}`);
        expect(await page.innerText('#blindness')).to.contain('No controller is at work');
      }
      await ticked(0);
      // Pages share the answer for 5 s.
      await until('a page that is live again', async () => {
        await page.goto('/o/acme/');
        return (await page.locator('#blindness[data-behind]').count()) === 0;
      });
      await page.waitForSelector('[data-live][data-state=on]');
    } finally {
      await ticked(null);
    }
  });

  it('shows a focused name in full if it is cut', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    const long = [...names].find((name) => (name?.length ?? 0) > 100) ?? '';
    await page.goto(`/o/acme/automations?id=${encodeURIComponent(long.slice(0, 20))}`);
    await page.keyboard.press('j');
    expect(await page.innerText('.tip')).to.contain(long);
  });
});
