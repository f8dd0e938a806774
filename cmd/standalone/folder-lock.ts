import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { answers } from './socket.ts';

/**
 * Keeps a second process off the data folder. Uses a socket, because the system releases it however
 * the process ends.
 */
export class FolderLock implements Component {
  readonly name = 'folder lock';
  readonly #folder: string;
  readonly #path: string;
  #server: Server | undefined;

  constructor(folder: string, socketPath: string) {
    this.#folder = folder;
    this.#path = socketPath;
  }

  /** @throws when another process holds the folder. */
  async start(): Promise<void> {
    if (await answers(this.#path)) {
      throw new Error(`another Runledger runs on ${this.#folder}; stop it, or set DATA_DIR to another folder`);
    }
    await rm(this.#path, { force: true });
    this.#server = createServer((socket) => socket.destroy()).listen(this.#path);
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  }
}
