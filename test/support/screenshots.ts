import { mkdir } from 'node:fs/promises';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { openPage, startBrowser } from './chromium.ts';
import { startConsole } from './console.ts';
import { storeFleet } from './fleet/store-fleet.ts';
import { PostgresServer } from './postgres-server.ts';
import { declaredIn, executionWith } from './some-execution.ts';
import { openDatabase } from './store.ts';

/** Where documents have them from. */
const folder = new URL('../../deploy/screenshots/', import.meta.url).pathname;

/** Takes a picture of each screen, dark and light, from the record of the fleet. */
async function takeScreenshots(): Promise<void> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase();
  const db = openDatabase(url);
  await migrateToLatest(db);
  await storeFleet(db);
  const viewer = { subject: 'ada', name: 'ada@example.com', organizations: ['acme'] };
  const console = await startConsole(url, {}, undefined, {
    findViewer: () => Promise.resolve(viewer),
  });
  const browser = await startBrowser();
  const screens = {
    overview: '',
    automations: 'automations',
    automation: `automations/${await declaredIn({ db })}?window=30d`,
    executions: 'executions',
    execution: `executions/${await executionWith({ db }, 'failed')}`,
    errors: 'errors',
    alerts: 'alerts',
    tail: 'tail',
  };
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await using opened = await openPage(browser, console.port, {
      colorScheme,
      viewport: { width: 1_280, height: 800 },
    });
    for (const [name, path] of Object.entries(screens)) {
      await opened.page.goto(`/o/acme/${path}`, { waitUntil: 'load' });
      if (name !== 'automations' && name !== 'errors') await opened.page.waitForTimeout(500);
      await opened.page.screenshot({ path: `${folder}${name}-${colorScheme}.png` });
    }
  }
  await browser.close();
  await console.stop();
  await db.destroy();
  await server.stop();
}

if (import.meta.main) await takeScreenshots();
