import type { Expectation } from './automation.ts';
import type { History } from './history.ts';
import type { Schedules } from './schedules.ts';
import type { Finding } from './verdict.ts';

/** Findings of one kind of expectation, and when they can change without new events. */
export interface Part {
  findings: Finding[];
  nextAt: number;
}

/** The input of each part of an evaluation. */
export interface Question {
  expectation: Expectation;
  /** With the runs in the order of their starts. */
  history: History;
  /** In ms since the Unix epoch. */
  watermark: number;
  schedules: Schedules;
}
