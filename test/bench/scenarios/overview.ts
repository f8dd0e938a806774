import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { CertificateFiles, createKeyPair } from '../../support/certificate.ts';
import { openPage, startBrowser, type WatchedPage } from '../../support/chromium.ts';
import { freePort } from '../../support/free-port.ts';
import { largest, seedRecord } from '../../support/seed-record.ts';
import { figure, percentile, type Finding } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import { startConsole } from '../harness/sides.ts';
import type { World } from '../harness/world.ts';
import { readToken } from '../harness/wrk.ts';
import type { Scenario } from './scenario.ts';

const days = 30;
const automations = 1_000;
const visits = 30;

/** Viewers share the figures for a few seconds; each visit here finds them too old. */
const pauseMs = 3_000;

/** The Overview of 1,000 automations with many events stored, in a browser. */
export const overview: Scenario = async (world, options) => {
  const database = await world.createDatabase();
  await seedRecord(database, { executions: options.readEvents / 5, days, automations });
  return measureOverview(world, database, options);
};

/** With a database that is filled. */
export async function measureOverview(world: World, database: string, { quick }: Options): Promise<Finding> {
  const port = await freePort();
  const address = `https://localhost:${port}`;
  await using certificate = await CertificateFiles.create(await createKeyPair('localhost'));
  const settings = { HTTPS_PORT: String(port), ...certificate.settings, CONSOLE_PUBLIC_URL: address };
  const { program } = await startConsole(world, database, settings);
  const browser = await startBrowser();
  const seen: Visit[] = [];
  try {
    const session = await logIn(browser, address);
    for (let number = 0; number < (quick ? 3 : visits); number += 1) {
      await sleep(pauseMs);
      seen.push(await visit(browser, address, session));
    }
  } finally {
    await browser.close();
    await world.end(program);
  }
  const of = (name: keyof Visit, part: number): number =>
    percentile(
      seen.map((one) => one[name]),
      part,
    );
  return {
    figures: [
      figure('First byte, p50', of('firstByteMs', 0.5), 'ms', { atMost: 150 }),
      figure('First byte, p95', of('firstByteMs', 0.95), 'ms'),
      figure('Page before compression, most', of('bytes', 1) / 1_000, 'kB', { atMost: 100 }),
      figure('Largest contentful paint, p50', of('largestPaintMs', 0.5), 'ms', { atMost: 1_000 }),
      figure('Largest contentful paint, p95', of('largestPaintMs', 0.95), 'ms'),
    ],
  };
}

/** What one visit measured. Times are from the start of the navigation. */
interface Visit {
  firstByteMs: number;
  largestPaintMs: number;
  bytes: number;
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

async function logIn(browser: Browser, address: string): Promise<Session> {
  await using opened = await open(browser, address);
  await opened.page.goto('/login');
  await opened.page.getByLabel('Read token').fill(readToken);
  await opened.page.getByRole('button', { name: 'Log in with the token' }).click();
  await opened.page.waitForURL(`**/o/${largest}/`);
  return await opened.context.storageState();
}

/** The certificate is that of the bench. */
function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  return openPage(browser, 0, { baseURL: address, ignoreHTTPSErrors: true, ...options });
}

/** A visit by a browser that has nothing of the console in its cache. */
async function visit(browser: Browser, address: string, storageState: Session): Promise<Visit> {
  await using opened = await open(browser, address, { storageState });
  await opened.page.goto(`/o/${largest}/`, { waitUntil: 'load' });
  return await opened.page.evaluate<Visit>(`new Promise((resolve) => {
    const [{ responseStart, decodedBodySize }] = performance.getEntriesByType('navigation');
    new PerformanceObserver((list) => {
      const { startTime } = list.getEntries().at(-1);
      resolve({ firstByteMs: responseStart, largestPaintMs: startTime, bytes: decodedBodySize });
    }).observe({ type: 'largest-contentful-paint', buffered: true });
  })`);
}
