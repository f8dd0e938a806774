import type { Logger } from '../telemetry/logger.ts';
import type { Component } from './component.ts';

/** Components started one after another and stopped in the opposite order. */
export class ComponentGroup implements Component {
  readonly name: string;
  readonly #components: readonly Component[];
  readonly #logger: Logger;
  #stopping: Promise<void> | undefined;

  constructor(name: string, components: readonly Component[], logger: Logger) {
    this.name = name;
    this.#components = components;
    this.#logger = logger;
  }

  /** @throws what the first component that fails throws; those before it are stopped again. */
  async start(): Promise<void> {
    try {
      for (const component of this.#components) await component.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops every component, also after one has failed to. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const component of this.#components.toReversed()) {
      await component.stop().catch((error: unknown) => {
        this.#logger.error({ error, component: component.name }, 'component failed to stop');
      });
    }
  }
}

/** A component made of functions, for the few things that need no class. */
export function component(name: string, parts: { start?: () => Promise<void>; stop?: () => Promise<void> }): Component {
  const nothing = (): Promise<void> => Promise.resolve();
  return { name, start: parts.start ?? nothing, stop: parts.stop ?? nothing };
}
