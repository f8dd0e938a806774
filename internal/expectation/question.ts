import type { Expectation } from './automation.ts';
import type { History } from './history.ts';
import type { Schedules } from './schedules.ts';
import type { Finding } from './verdict.ts';

/** Findings of one kind of expectation, and when they can change without new events. */
export interface Part {
  findings: Finding[];
  nextAt: number;
}

/** What the parts of an evaluation need. */
export interface Question {
  expectation: Expectation;
  /** Runs in the order of their starts. */
  history: History;
  /** In ms since the Unix epoch. */
  watermark: number;
  schedules: Schedules;
}
