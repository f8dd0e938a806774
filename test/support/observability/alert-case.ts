/** Series that differ from the healthy world; undefined removes a series. */
export type Differences = Record<string, string | undefined>;

/** Worlds in which an alert fires, and worlds in which it nearly does. */
export interface AlertCase {
  fires: Differences;
  /** When it fires at the latest, in minutes; after an hour unless set. */
  firesAt?: number;
  /** Other alerts that fire with it. */
  with?: string[];
  nearly: Differences;
  /** Other alerts that fire where this one nearly does. */
  nearlyWith?: string[];
  /** More such worlds, by title. */
  alsoFires?: Record<string, Differences>;
  alsoNearly?: Record<string, Differences>;
}
