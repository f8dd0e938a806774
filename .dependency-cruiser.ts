import type { IConfiguration } from 'dependency-cruiser';

/**
 * Folder of `internal` → the folders of `internal` that it may import (ARCHITECTURE.md, "Layout").
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  api: ['async', 'errors', 'event', 'export', 'http', 'log', 'outcome', 'record', 'telemetry', 'tokens'],
  archive: ['event', 'export', 'log', 'record', 'store'],
  async: [],
  audit: ['event', 'log', 'store'],
  automations: ['async', 'event', 'expectation', 'kubernetes', 'outcome', 'store', 'telemetry'],
  batching: [],
  capture: ['async', 'automations', 'errors', 'event', 'expectation', 'kubernetes', 'store', 'telemetry'],
  client: [],
  config: [],
  console: ['api', 'errors', 'event', 'expectation', 'html', 'login', 'outcome', 'record', 'telemetry'],
  databases: ['async', 'store', 'telemetry'],
  errors: [],
  event: ['errors'],
  expectation: ['event'],
  export: ['event', 'record'],
  html: [],
  http: [],
  job: [],
  kubernetes: ['async', 'telemetry'],
  lifecycle: ['ops', 'telemetry'],
  log: [],
  login: ['api', 'async', 'errors', 'event', 'html', 'kubernetes', 'store', 'telemetry', 'tokens'],
  notify: ['async', 'errors', 'event', 'expectation', 'http', 'store', 'telemetry'],
  ops: ['http', 'telemetry'],
  outbox: [],
  outcome: ['event'],
  queue: ['async', 'batching', 'errors', 'event', 'telemetry'],
  record: ['async', 'errors', 'event', 'expectation', 'log', 'outcome', 'store', 'telemetry'],
  store: ['event', 'log', 'outcome'],
  telemetry: ['ops'],
  terminal: [],
  tokens: ['event', 'kubernetes', 'telemetry'],
  verdicts: ['async', 'expectation', 'store', 'telemetry'],
  witness: ['log'],
  worker: ['async', 'batching', 'event', 'outcome', 'telemetry'],
};

/** Folder of `internal` → the third-party libraries that only this folder imports. */
export const libraries: Readonly<Record<string, readonly string[]>> = {
  archive: ['@aws-sdk/client-s3'],
  api: ['koa', '@koa/router', 'koa-bodyparser', 'koa-compose', 'stream-chain', 'stream-json'],
  config: ['envalid'],
  console: ['d3-scale', 'd3-shape'],
  event: ['ajv'],
  export: ['hyparquet', 'hyparquet-writer'],
  html: ['hono'],
  kubernetes: ['@kubernetes/client-node', 'undici', 'yaml'],
  login: ['openid-client', 'jose'],
  queue: ['bullmq', 'ioredis', '@cloudpss/zstd'],
  store: ['pg', 'kysely', '@electric-sql/pglite'],
  telemetry: ['prom-client', 'pino', '@opentelemetry/[^/]+', 'bullmq-otel'],
};

const severity = 'error';

const arrowRules = Object.entries(arrows).map(
  ([folder, allowed]) =>
    ({
      name: `arrows-of-${folder}`,
      severity,
      from: { path: `^internal/${folder}/` },
      to: { path: '^internal/', pathNot: `^internal/(${[folder, ...allowed].join('|')})/` },
    }) as const,
);

const libraryRules = Object.entries(libraries).map(
  ([folder, names]) =>
    ({
      name: `libraries-of-${folder}`,
      severity,
      from: { path: '^internal/', pathNot: `^internal/${folder}/` },
      to: { path: `(^|node_modules/)(${names.join('|')})(/|$)` },
    }) as const,
);

const owned = Object.values(libraries).flat().join('|');

/** The rules of imports, for dependency-cruiser: `test/support/import-arrows.ts` runs it. */
export const rules: IConfiguration = {
  forbidden: [
    ...arrowRules,
    ...libraryRules,
    {
      name: 'folder-without-arrows',
      severity,
      from: { path: '^internal/', pathNot: `^internal/(${Object.keys(arrows).join('|')})/` },
      to: {},
    },
    {
      name: 'library-without-folder',
      severity,
      from: { path: '^internal/' },
      to: { path: 'node_modules/', pathNot: `node_modules/(${owned})(/|$)` },
    },
    { name: 'cmd-and-test', severity, from: { path: '^internal/' }, to: { path: '^(cmd|test)/' } },
    { name: 'test', severity, from: { path: '^cmd/' }, to: { path: '^test/' } },
    { name: 'circle', severity, from: {}, to: { circular: true } },
  ],
};
