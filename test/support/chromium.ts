import { access } from 'node:fs/promises';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

/**
 * Where Debian, Fedora, Alpine and macOS have Chromium; the first that exists is used. The headless
 * shell takes a third of the CPU time.
 */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/homebrew/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Chromium without a window. The sandbox of Chromium does not work for root.
 * @param hosts the addresses of hosts that no DNS server knows.
 */
export async function startBrowser(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([host, address]) => `MAP ${host} ${address}`);
  const args = ['--no-sandbox', '--disable-dev-shm-usage', `--host-resolver-rules=${rules.join()}`];
  for (const executablePath of places) {
    const exists = await access(executablePath).then(
      () => true,
      () => false,
    );
    if (exists) return chromium.launch({ executablePath, args });
  }
  throw new Error(`there is no Chromium in ${places.join(', ')}: deploy/install.sh chromium installs it`);
}

/** A page, and all that a browser complains of in it. */
export interface WatchedPage extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Errors of scripts, violations of the content security policy, dialogs and failed requests. */
  complaints: string[];
}

/** Where browsers of tests are. */
const rome = 'Europe/Rome';

/** A page of the console at a port, behind a proxy that ends TLS. */
export async function openPage(
  browser: Browser,
  port: number,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: `http://127.0.0.1:${port}`,
    extraHTTPHeaders: { 'x-forwarded-proto': 'https' },
    timezoneId: rome,
    ...options,
  });
  // A browser has told its zone with its first page: here that is before the test.
  const { baseURL = `http://127.0.0.1:${port}`, timezoneId = rome } = options;
  await context.addCookies([{ name: 'zone', value: timezoneId, url: baseURL }]);
  const complaints: string[] = [];
  await context.exposeBinding('complain', (_, text: string) => void complaints.push(text));
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      complain(\`violates \${violatedDirective}: \${blockedURI}\`))`,
  );
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, context, complaints, [Symbol.asyncDispose]: () => context.close() };
}
