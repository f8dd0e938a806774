import type { Logger } from '../telemetry/logger.ts';
import type { Component } from './component.ts';

/** Starts components in order and stops them in reverse order. */
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
   * Starts the components. After a failure it stops those that have started.
   * @throws the error of the first component that fails, or an error if the group is stopped
   * meanwhile.
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
   * Starts one more component, which is stopped before the others.
   * @throws its error, or an error if the group is stopped meanwhile.
   */
  async begin(component: Component): Promise<void> {
    this.#components.push(component);
    await this.#startOne(component);
  }

  /**
   * If a stop comes while a component starts, that component is stopped again and no other starts.
   */
  async #startOne(component: Component): Promise<void> {
    if (this.#stopping === undefined) await component.start();
    if (this.#stopping === undefined) return;
    await this.#stopOne(component);
    throw new Error(`${this.name} was stopped before it had started`);
  }

  /** Stops every component, even after one has failed to stop. */
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
 * Starts components in order and stops them concurrently, since each may wait for a slow client.
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

/** Makes a component from two functions. */
export function component(name: string, parts: { start?: () => Promise<void>; stop?: () => Promise<void> }): Component {
  const nothing = (): Promise<void> => Promise.resolve();
  return { name, start: parts.start ?? nothing, stop: parts.stop ?? nothing };
}
