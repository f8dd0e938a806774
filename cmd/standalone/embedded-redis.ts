import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { disconnect } from '../../internal/queue/ioredis-quirks.ts';
import { createConsumerRedis, type RedisClient } from '../../internal/queue/redis.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { answers } from './socket.ts';

/** Compatible forks of Redis, in order of preference. */
const programs = ['redis-server', 'valkey-server'];

/** Longest time for Redis to load its data, in ms. */
const loadingMs = 60_000;

/** Delay before Redis is restarted after its end or a failed start, in ms. */
const restartMs = 500;

/**
 * A `redis-server` child process with durable settings, on a Unix socket that only this user can
 * open. Restarts it after its end. First ends one that a killed standalone left behind.
 */
export class EmbeddedRedis implements Component {
  readonly name = 'embedded redis';
  readonly #folder: string;
  readonly #socket: string;
  readonly #logger: Logger;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  readonly #stopping = new AbortController();

  constructor(folder: string, socket: string, logger: Logger) {
    this.#folder = folder;
    this.#socket = socket;
    this.#logger = logger;
  }

  /**
   * Resolves when Redis has loaded its data.
   * @throws when no server is on the PATH, or it does not start.
   */
  async start(): Promise<void> {
    await this.#endLeftOver();
    await this.#spawn();
    await this.#untilLoaded();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  /**
   * Ends a server that answers: this process holds the folder's lock, so a killed standalone left
   * it.
   */
  async #endLeftOver(): Promise<void> {
    if (!(await answers(this.#socket))) return;
    this.#logger.warn('ending the redis of an earlier run');
    await this.#ask(async (redis) => {
      // The server closes the connection as its answer, which the client reports as an error.
      redis.shutdown().catch(() => undefined);
      while (await answers(this.#socket)) await sleep(50);
    });
  }

  async #spawn(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    for (const program of programs) {
      const child = await this.#run(program);
      if (child === undefined) continue;
      this.#child = child;
      child.once('exit', (code, signal) => this.#onExit(code, signal));
      // A stop in the meantime did not see this child.
      if (this.#stopping.signal.aborted) child.kill('SIGTERM');
      return;
    }
    throw new Error('neither redis-server nor valkey-server is on the PATH; install one, or set REDIS_URL');
  }

  /** Undefined when the program does not exist. */
  async #run(program: string): Promise<ChildProcess | undefined> {
    const log = openSync(join(this.#folder, 'redis.log'), 'a');
    // Detached, because Ctrl-C reaches the whole process group, and Redis must outlive the events
    // under way.
    const child = spawn(program, redisArguments(this.#folder, this.#socket), {
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    return once(child, 'spawn').then(
      () => child,
      () => undefined,
    );
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#stopping.signal.aborted) return;
    this.#logger.error({ code, signal }, 'embedded redis ended, starting it again');
    this.#startAgain();
  }

  /** Retries until Redis runs; ingest answers 503 meanwhile. */
  #startAgain(): void {
    if (this.#stopping.signal.aborted) return;
    this.#restart = setTimeout(() => {
      this.#spawn().catch((error: unknown) => {
        this.#logger.error({ error }, 'embedded redis cannot be started, trying again');
        this.#startAgain();
      });
    }, restartMs);
  }

  async #untilLoaded(): Promise<void> {
    await this.#ask(async (redis) => {
      while ((await redis.info('persistence')).includes('loading:1')) await sleep(50);
    });
  }

  /** Runs commands on their own connection. Rejects when they take too long, or at a stop. */
  async #ask(commands: (redis: RedisClient) => Promise<void>): Promise<void> {
    const redis = createConsumerRedis(this.#socket);
    redis.on('error', () => undefined);
    const answered = new AbortController();
    const signal = AbortSignal.any([answered.signal, this.#stopping.signal]);
    const givingUp = sleep(loadingMs, undefined, { signal }).then(() => {
      throw new Error(`embedded redis does not answer; see ${join(this.#folder, 'redis.log')}`);
    });
    try {
      await Promise.race([commands(redis), givingUp]);
    } finally {
      givingUp.catch(() => undefined);
      answered.abort();
      await disconnect(redis);
    }
  }
}

function redisArguments(folder: string, socket: string): string[] {
  const settings = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
    maxmemory: '512mb',
    'maxmemory-policy': 'noeviction',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}
