import { expect } from 'chai';
import { anEvent } from '../../support/events.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import type { WatchedPage } from '../../support/chromium.ts';
import { suiteBrowser } from '../../support/suite-browser.ts';
import { xssPayloads } from '../../support/xss-payloads.ts';

const automationId = '0190a0b0-0000-7000-8000-0000000000aa';
const begin = Date.now() - 600_000;

/** Events of one execution for each payload: the payload is in every text of them. */
const events = xssPayloads.flatMap((payload, index) =>
  (['START', 'WARNING', 'ERROR'] as const).map((kind, step) =>
    anEvent({
      automationId,
      executionId: payload.slice(0, 255),
      kind,
      description: payload,
      errorId: kind === 'ERROR' ? payload.slice(0, 255) : '',
      errorDescription: kind === 'ERROR' ? `${payload}\n${payload}` : '',
      createdAt: begin + index * 100 + step,
    }),
  ),
);

/** Texts as a page shows them: white space of markup is one space. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

describe('texts of callers in a browser', () => {
  const suite = suiteBrowser({ isEmpty: true, settings: { STREAM_EVENTS_PER_SECOND: '2000' } });

  before(async () => {
    await recordEvents(suite.database.db, events);
  });

  /** Fails if a payload has run, or the browser complains. */
  async function expectHarmless({ page, complaints }: WatchedPage): Promise<void> {
    expect(
      await page.evaluate(
        '[globalThis.pwned, document.querySelectorAll("[hx-on\\\\:load], base, iframe, marquee").length]',
      ),
    ).to.deep.equal([undefined, 0]);
    expect(complaints).to.deep.equal([]);
  }

  async function textsOf({ page }: WatchedPage, selector: string): Promise<Set<string>> {
    const texts = await page.evaluate<string[]>(
      `Array.from(document.querySelectorAll(${JSON.stringify(selector)}), (e) => e.title || e.textContent)`,
    );
    return new Set(texts.map(flat));
  }

  it('are known payloads, about 200 of them', () => {
    expect(new Set(xssPayloads).size).to.equal(xssPayloads.length).and.to.be.within(190, 220);
  });

  it('are texts in the list of executions, and in the groups of errors', async () => {
    await using opened = await suite.open();
    await opened.page.goto('/o/acme/executions?limit=500');
    const ids = await textsOf(opened, '#rows .row-link');
    expect(
      xssPayloads.map((payload) => flat(payload.slice(0, 255))).filter((payload) => !ids.has(payload)),
    ).to.deep.equal([]);
    await expectHarmless(opened);
    await opened.page.goto('/o/acme/errors');
    await opened.page.click('#more a');
    await opened.page.locator('#rows tr').nth(100).waitFor();
    await expectHarmless(opened);
    await opened.page.goto('/o/acme/');
    await expectHarmless(opened);
  });

  it('are texts on the page of an execution, and in filters and titles', async () => {
    await using opened = await suite.open();
    const { page } = opened;
    for (const payload of xssPayloads.filter((_, index) => index % 24 === 0)) {
      const id = payload.slice(0, 255);
      await page.goto(`/o/acme/executions/${automationId}/${encodeURIComponent(id)}`);
      expect(flat(await page.innerText('h1 bdi'))).to.equal(flat(id));
      const errorText = await page.textContent('.failure pre');
      expect(errorText?.replaceAll('\r\n', '\n')).to.equal(
        `${payload}\n${payload}`.replaceAll('\r\n', '\n').replaceAll('\r', '\n'),
      );
      const q = encodeURIComponent(payload.slice(0, 200));
      await page.goto(`/o/acme/executions?q=${q}&error_id=${q}`);
      await expectHarmless(opened);
    }
  });

  it('are texts in live rows and in the tail', async () => {
    await using list = await suite.open();
    await using tail = await suite.open();
    await list.page.goto('/o/acme/executions?limit=1');
    await tail.page.goto('/o/acme/tail');
    for (const { page } of [list, tail]) await page.waitForSelector('[data-live][data-state=on]');
    const later = events.map((event) => ({
      ...event,
      id: anEvent().id,
      executionId: `live ${event.executionId}`.slice(0, 255),
      createdAt: Date.now(),
    }));
    // In portions: a stream leaves events out when its reader is slow.
    const lines = tail.page.locator('[data-tail] li');
    const before = await lines.count();
    for (let sent = 0; sent < later.length; sent += 200) {
      const portion = later.slice(sent, sent + 200);
      await recordEvents(suite.database.db, portion);
      await lines.nth(before + sent + portion.length - 1).waitFor();
    }
    await list.page.waitForSelector('[data-pill]:not([hidden])');
    await list.page.click('[data-pill]');
    for (const opened of [list, tail]) await expectHarmless(opened);
  });
});
