import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podAccount } from '../../../internal/cluster/pod-account.ts';
import type { SupervisionTimes } from '../../../internal/cluster/supervision.ts';
import { SecretTokenSource } from '../../../internal/cluster/tokens/secret-token-source.ts';
import { until } from '../until.ts';
import { ScriptedApi } from './scripted-api.ts';
import { capturedMetrics } from './token-fixtures.ts';
import { recordingLogger } from '../recording-logger.ts';

const quick = { settleMs: 5, shortestWatchMs: 50, backoff: { firstMs: 20, longestMs: 100 } };

/**
 * Longest silence of a watch, in ms, where a test waits for one. A watch that is opened must be
 * answered within it, also on a busy machine.
 */
export const idleMs = 2_000;
export const [acme, globex, revoked] = ['acme-token-aaaaaaaaaa', 'globex-token-bbbbbbbbbb', 'revoked-token-cccccccc'];

/** A token source in a pod whose API server follows a script and knows of one Secret, `acme`. */
class ScriptedSource {
  readonly api: ScriptedApi;
  /** The folder of the pod's account. */
  readonly account: string;
  readonly logs = recordingLogger();
  readonly metrics = capturedMetrics();
  #source: SecretTokenSource | undefined;

  constructor(api: ScriptedApi, account: string) {
    this.api = api;
    this.account = account;
  }

  get source(): SecretTokenSource {
    if (this.#source === undefined) throw new Error('create the source first');
    return this.#source;
  }

  create(times: Partial<SupervisionTimes> = {}): void {
    const connect = podAccount(this.api.url, this.account);
    const { metrics } = this.metrics;
    this.#source = new SecretTokenSource({ connect, ...this.logs, metrics, times: { ...quick, ...times } });
  }

  async follow(times: Partial<SupervisionTimes> = {}): Promise<void> {
    this.create(times);
    await this.source.start();
    await until('the first list', () => this.source.unready() === undefined);
    await this.watching();
  }

  known(token: string): boolean {
    return this.source.authenticate(token).status === 'known';
  }

  learned(token: string): Promise<true> {
    return until('the token known', () => this.known(token));
  }

  watching(): Promise<true> {
    return until('one watch open', () => this.api.watches === 1);
  }

  restarts(): Promise<number> {
    return this.metrics.value('runledger_token_watch_restarts_total');
  }
}

/**
 * Gives each test of a suite one of its own. A test fails when it leaves a connection, or a token
 * in logs or metrics.
 */
export function eachWithScriptedSource(): () => ScriptedSource {
  let scripted: ScriptedSource;

  beforeEach(async () => {
    const api = await ScriptedApi.start();
    api.put('acme', 'acme', acme);
    const account = await mkdtemp(join(tmpdir(), 'runledger-account-'));
    await writeFile(join(account, 'ca.crt'), '');
    await writeFile(join(account, 'namespace'), 'tokens\n');
    await writeFile(join(account, 'token'), 'account-1\n');
    scripted = new ScriptedSource(api, account);
  });

  afterEach(async () => {
    const { api, account, logs, metrics, source } = scripted;
    await source.stop();
    await source.stop();
    await until('every connection closed', () => api.sockets.size === 0);
    await api.stop();
    await rm(account, { recursive: true });
    const written = `${logs.lines.join('')}${await metrics.text()}`;
    for (const token of [acme, globex, revoked]) expect(written).not.to.contain(token);
  });

  return () => scripted;
}
