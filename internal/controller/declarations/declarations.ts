import type { AutomationSpec } from '../../expectation/automation.ts';
import type { ChannelSpec } from '../../expectation/read-channel.ts';
import type { ResourceKind } from './manifest.ts';

/** An accepted `Automation`. */
export interface DeclaredAutomation extends AutomationSpec {
  organization: string;
  namespace: string;
  name: string;
  uid: string;
  /** One sentence for its owner if something does not take effect as declared. */
  note?: string;
  /** Grows with each change; for a file, it is a different number after each change. */
  generation: number;
}

/** An accepted `Channel`. */
export interface DeclaredChannel extends ChannelSpec {
  organization: string;
  namespace: string;
  name: string;
}

export interface Declarations {
  readonly automations: readonly DeclaredAutomation[];
  readonly channels: readonly DeclaredChannel[];
  /** Organizations without defaults: only what is declared raises alerts. */
  readonly silent?: readonly string[];
}

/** A resource whose declaration Postgres refused. */
export interface UnstoredResource {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  /** One sentence for people. */
  readonly message: string;
}

/** A source of declarations. As a component, it may be stopped twice, and before `start`. */
export interface DeclarationSource {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** One sentence for the readiness probe until the first complete list; undefined afterwards. */
  unready(): string | undefined;
  /**
   * All declarations; undefined while they may be out of date, as when the API server is
   * unavailable. The tables then stay as they are.
   */
  current(): Declarations | undefined;
  /**
   * The signing keys of a webhook, or the address of a chat and its token, from memory; none until its
   * Secret is read.
   */
  secretsOf(channel: { readonly namespace: string; readonly name: string }): readonly string[];
  /** Shows that Postgres refused the declarations of these resources. */
  refuse(resources: readonly UnstoredResource[]): void;
  /**
   * Updates the status of the resources in the background. Called after a tick by the replica that
   * held the lock.
   */
  afterTick(): void;
}
