import type { IConfiguration } from 'dependency-cruiser';

/**
 * Room (folder of `internal`) → the rooms that it may import (ARCHITECTURE.md, "Layout").
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  cluster: ['event', 'kit'],
  config: [],
  console: ['event', 'expectation', 'intake', 'kit', 'login', 'readapi', 'record'],
  controller: ['cluster', 'event', 'expectation', 'kit', 'store'],
  event: ['kit'],
  expectation: ['event'],
  intake: ['cluster', 'event', 'kit'],
  kit: [],
  ledger: [],
  login: ['cluster', 'event', 'intake', 'kit', 'store'],
  queue: ['event', 'kit'],
  readapi: ['event', 'expectation', 'intake', 'kit', 'ledger', 'login', 'record', 'store'],
  record: ['event', 'expectation', 'kit', 'ledger', 'store'],
  store: ['event', 'kit', 'ledger'],
  wiring: ['cluster', 'config', 'intake', 'kit', 'queue', 'store'],
  worker: ['event', 'kit'],
};

/** Room → the third-party libraries that it imports. */
export const libraries: Readonly<Record<string, readonly string[]>> = {
  cluster: ['@kubernetes/client-node', 'undici', 'yaml', 'jose'],
  config: ['envalid'],
  console: ['d3-scale', 'd3-shape'],
  controller: ['jose', 'nodemailer'],
  event: ['ajv'],
  intake: ['koa', '@koa/router', 'koa-bodyparser', 'koa-compose', 'stream-chain', 'stream-json'],
  kit: ['hono', 'prom-client', 'pino', '@opentelemetry/[^/]+', 'bullmq-otel'],
  login: ['openid-client', 'jose'],
  queue: ['bullmq', 'ioredis', '@cloudpss/zstd'],
  readapi: ['koa', '@koa/router'],
  record: ['@aws-sdk/client-s3', 'hyparquet', 'hyparquet-writer'],
  store: ['pg', 'kysely', '@electric-sql/pglite'],
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

const libraryRules = Object.keys(arrows).map(
  (folder) =>
    ({
      name: `libraries-of-${folder}`,
      severity,
      from: { path: `^internal/${folder}/` },
      to: { path: 'node_modules/', pathNot: `node_modules/(${[...(libraries[folder] ?? []), ''].join('|')})(/|$)` },
    }) as const,
);

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
    { name: 'cmd-and-test', severity, from: { path: '^internal/' }, to: { path: '^(cmd|test)/' } },
    { name: 'test', severity, from: { path: '^cmd/' }, to: { path: '^test/' } },
    { name: 'circle', severity, from: {}, to: { circular: true } },
  ],
};
