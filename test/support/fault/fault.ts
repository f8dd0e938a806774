import type { Load } from './load.ts';
import type { System } from './system.ts';

/** One fault, as data: what a seed determines and a person reads. */
export interface Fault {
  kind: string;
  /** The process or network it strikes. Two faults of an episode never strike the same place. */
  place: string;
  /** From the beginning of the episode, in ms. */
  afterMs: number;
  holdMs: number;
  /** From 0 to 1: how bad, or which variety. */
  amount: number;
}

/** What faults are injected into. */
export interface Scene {
  system: System;
  load: Load;
}

/** Ends a fault; resolves once the cause is gone. Recovery is then Runledger's own business. */
export type Heal = () => Promise<unknown> | void;

export interface FaultType {
  /** Where it can strike. */
  places: readonly string[];
  /** Shortest and longest hold, in ms; most are near the shortest. */
  hold: readonly [min: number, max: number];
  /** Resolves without a function where nothing needs to be done to end it. */
  inject: (scene: Scene, fault: Fault) => Promise<Heal | void> | Heal | void;
  /** What the machine lacks to inject it; undefined where it can. */
  unavailable?: (system: System) => string | undefined;
}

/** A list of variants, one of which `amount` chooses. */
export function variant<T>(list: readonly T[], amount: number): T {
  const item = list[Math.min(Math.floor(amount * list.length), list.length - 1)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}
