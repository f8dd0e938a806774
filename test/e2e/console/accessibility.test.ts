import { AxeBuilder } from '@axe-core/playwright';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { automationWith, declaredIn, executionWith } from '../../support/some-execution.ts';
import { suiteBrowser } from '../../support/suite-browser.ts';

/** What axe finds, in one line each. The colours of a theme change contrasts only. */
async function findings(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // A page without frames needs no second page for the results.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await (colorScheme === 'dark' ? axe.withRules('color-contrast') : axe).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

describe('the console in a browser', () => {
  const suite = suiteBrowser();

  const screens: Record<string, () => Promise<string>> = {
    Overview: () => Promise.resolve('/o/acme/'),
    Automations: () => Promise.resolve('/o/acme/automations'),
    'one automation': async () => `/o/acme/automations/${await automationWith(suite.database)}`,
    Executions: () => Promise.resolve('/o/acme/executions?has=warning&limit=20'),
    'one execution': async () => `/o/acme/executions/${await executionWith(suite.database, 'failed')}`,
    Errors: () => Promise.resolve('/o/acme/errors'),
    Alerts: () => Promise.resolve('/o/acme/alerts?test=sent'),
    'a declared automation': async () => `/o/acme/automations/${await declaredIn(suite.database)}`,
    Tail: () => Promise.resolve('/o/acme/tail'),
    'the login': () => Promise.resolve('/login?to=/o/acme/errors'),
    'a wrong address': () => Promise.resolve('/o/acme/executions?state=odd'),
    'a choice of organizations': () => Promise.resolve('/'),
  };

  for (const [name, pathOf] of Object.entries(screens)) {
    it(`has no barrier, dark and light, narrow and wide: ${name}`, async () => {
      if (name === 'a choice of organizations')
        suite.viewer = { subject: 'eve', name: 'Eve', organizations: ['acme', 'globex'] };
      await using opened = await suite.open({ viewport: { width: 1_440, height: 900 } });
      const { page, complaints } = opened;
      await page.goto(await pathOf(), { waitUntil: 'load' });
      for (const width of [1_440, 360]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, `${width} px: wider than the screen`).to.be.at.most(0);
        for (const colorScheme of ['light', 'dark'] as const) {
          expect(await findings(page, colorScheme), `${colorScheme}, ${width} px`).to.deep.equal([]);
        }
      }
      const real = complaints.filter((text) => !/status of 400/.test(text));
      expect(real).to.deep.equal([]);
    });
  }
});
