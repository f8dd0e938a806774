import { startApi } from './api-server.ts';
import { startIngest } from './pipeline.ts';
import { suiteIngest } from './suite-ingest.ts';

/** The helpers that start the API, bound to one value of FAST_PATH. */
export interface ApiMode {
  fastPath: boolean;
  startApi: (
    ...options: [Parameters<typeof startApi>[0], Parameters<typeof startApi>[1]?]
  ) => ReturnType<typeof startApi>;
  startIngest: typeof startIngest;
  suiteIngest: typeof suiteIngest;
}

/** Describes the API twice: with the fast path and with plain Koa. Both must behave the same. */
export function inBothModes(title: string, tests: (mode: ApiMode) => void): void {
  for (const fastPath of [true, false]) {
    const setting = { FAST_PATH: String(fastPath) };
    describe(`${title} (FAST_PATH=${setting.FAST_PATH})`, () => {
      tests({
        fastPath,
        startApi: (enqueue, limits) => startApi(enqueue, limits, fastPath),
        startIngest: (settings, ...more) => startIngest({ ...setting, ...settings }, ...more),
        suiteIngest: (settings, ...more) => suiteIngest(() => ({ ...setting, ...settings?.() }), ...more),
      });
    });
  }
}
