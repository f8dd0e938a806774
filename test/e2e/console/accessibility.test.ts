import { AxeBuilder } from '@axe-core/playwright';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addressOf, longFailure, manyErrors } from '../../support/fleet/long-runs.ts';
import { automationWith, declaredIn, executionWith, openAlertIn } from '../../support/some-execution.ts';
import { ada, suiteBrowser } from '../../support/suite-browser.ts';

/** What axe finds, in one line each. The colours of a theme change contrasts only. */
async function findings(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // A page without frames needs no second page for the results.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await (colorScheme === 'dark' ? axe.withRules('color-contrast') : axe).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/** Links and fields of which a part is cut off. Long names are cut on purpose. */
const cutControls = `[...document.querySelectorAll('button, .button, .segments a, .top a, summary, input, .chip')]
  .filter((e) => e.checkVisibility({ contentVisibilityAuto: true }) && !e.matches('.skip, .name, [type=radio]') && !e.closest('details:not([open]) .panel'))
  .filter((e) => {
    const { left, right } = e.getBoundingClientRect();
    let [from, to] = [0, innerWidth];
    for (let p = e.parentElement; p !== null; p = p.parentElement) {
      if (getComputedStyle(p).overflowX === 'visible') continue;
      const box = p.getBoundingClientRect();
      [from, to] = [Math.max(from, box.left), Math.min(to, box.right)];
    }
    return left < from - 1 || right > to + 1;
  })
  .map((e) => e.outerHTML.slice(0, 120))`;

const ofOwners = new Set([
  'Tokens',
  'Channels',
  'Activity',
  'Automations',
  'one automation',
  'a new automation',
  'Mutes',
  'one alert',
  'a running execution',
]);

describe('the console in a browser', () => {
  const suite = suiteBrowser();

  const screens: Record<string, () => Promise<string>> = {
    Overview: () => Promise.resolve('/o/acme/'),
    Automations: () => Promise.resolve('/o/acme/automations'),
    'one automation': async () => `/o/acme/automations/${await automationWith(suite.database)}`,
    Executions: () => Promise.resolve('/o/acme/executions?has=warning&limit=20'),
    'one execution': () => Promise.resolve(addressOf(manyErrors)),
    'a long execution': () => Promise.resolve(`${addressOf(longFailure)}?kind=ERROR`),
    Errors: () => Promise.resolve('/o/acme/errors'),
    Alerts: () => Promise.resolve('/o/acme/alerts?test=sent'),
    Mutes: () => Promise.resolve('/o/acme/mutes'),
    'one alert': async () => `/o/acme/alerts/${await openAlertIn(suite.database)}`,
    'a running execution': async () => `/o/acme/executions/${await executionWith(suite.database, 'running')}`,
    'a comparison': async () => `/o/acme/executions/${await executionWith(suite.database, 'failed')}/compare`,
    'a declared automation': async () => `/o/acme/automations/${await declaredIn(suite.database)}`,
    Tokens: () => Promise.resolve('/o/acme/settings/tokens'),
    Channels: () => Promise.resolve('/o/acme/settings/channels'),
    'a new automation': () => Promise.resolve('/o/acme/automations/new'),
    Snippets: () => Promise.resolve('/o/acme/automations/0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11/report'),
    Activity: () => Promise.resolve('/o/acme/settings/activity'),
    Tail: () => Promise.resolve('/o/acme/tail'),
    'the login': () => Promise.resolve('/login?to=/o/acme/errors'),
    'a wrong address': () => Promise.resolve('/o/acme/executions?state=odd'),
    'a choice of organizations': () => Promise.resolve('/'),
  };

  for (const [name, pathOf] of Object.entries(screens)) {
    it(`has no barrier, dark and light, narrow and wide: ${name}`, async () => {
      if (name === 'a choice of organizations')
        suite.viewer = { subject: 'eve', name: 'Eve', organizations: ['acme', 'globex'], administers: true };
      if (ofOwners.has(name)) suite.viewer = { ...ada, owned: ['acme'] };
      await using opened = await suite.open({ viewport: { width: 1_440, height: 900 } });
      const { page, complaints } = opened;
      await page.goto(await pathOf(), { waitUntil: 'load' });
      for (const width of [1_440, 768, 390, 360]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, `${width} px: wider than the screen`).to.be.at.most(0);
        expect(await page.evaluate<string[]>(cutControls), `${width} px: cut off`).to.deep.equal([]);
        if (width !== 1_440 && width !== 360) continue;
        for (const colorScheme of ['light', 'dark'] as const) {
          expect(await findings(page, colorScheme), `${colorScheme}, ${width} px`).to.deep.equal([]);
        }
      }
      const real = complaints.filter((text) => !/status of 400/.test(text));
      expect(real).to.deep.equal([]);
    });
  }
});
