import type { Logger } from '../telemetry/logger.ts';
import type { Component } from './component.ts';

/** Components started one after another and stopped in the opposite order. */
export class ComponentGroup implements Component {
  readonly name: string;
  readonly #components: Component[];
  readonly #logger: Logger;
  #stopping: Promise<void> | undefined;

  constructor(name: string, components: readonly Component[], logger: Logger) {
    this.name = name;
    this.#components = [...components];
    this.#logger = logger;
  }

  /**
   * @throws what the first component that fails throws; those before it are stopped again. Or when
   * stopped meanwhile.
   */
  async start(): Promise<void> {
    try {
      for (const component of this.#components) await this.#startOne(component);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /**
   * Starts one more, which is stopped before the others.
   * @throws what it throws, or when the group is stopped meanwhile.
   */
  async begin(component: Component): Promise<void> {
    this.#components.push(component);
    await this.#startOne(component);
  }

  /**
   * A stop may come while a component starts: it is stopped again then, and none is started any
   * more.
   */
  async #startOne(component: Component): Promise<void> {
    if (this.#stopping === undefined) await component.start();
    if (this.#stopping === undefined) return;
    await this.#stopOne(component);
    throw new Error(`${this.name} was stopped before it had started`);
  }

  /** Stops every component, also after one has failed to. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const component of this.#components.toReversed()) await this.#stopOne(component);
  }

  async #stopOne(component: Component): Promise<void> {
    await component.stop().catch((error: unknown) => {
      this.#logger.error({ error, component: component.name }, 'component failed to stop');
    });
  }
}

/**
 * Components of one rank: started one after another, stopped at once, since each may wait for its
 * slowest client.
 */
export function inParallel(name: string, components: readonly Component[]): Component {
  return {
    name,
    async start() {
      for (const part of components) await part.start();
    },
    async stop() {
      await Promise.all(components.map((part) => part.stop()));
    },
  };
}

/** A component made of functions, for the few things that need no class. */
export function component(name: string, parts: { start?: () => Promise<void>; stop?: () => Promise<void> }): Component {
  const nothing = (): Promise<void> => Promise.resolve();
  return { name, start: parts.start ?? nothing, stop: parts.stop ?? nothing };
}
