import type { Surroundings } from '../../record/around-execution.ts';
import type { Execution } from '../../record/execution.ts';
import type { Seal } from '../../record/ledger.ts';
import type { Timeline } from '../../record/list-timeline.ts';
import type { TimelineQuery } from './timeline-query.ts';

/** All that the page of an execution shows. */
export interface ExecutionView {
  execution: Execution;
  /** Of the automation, if it is declared. */
  name: string | undefined;
  around: Surroundings;
  /** The part of the timeline that the address names. */
  query: TimelineQuery;
  events: Timeline;
  /** The first errors, in the order of their acceptance. */
  errors: Timeline;
  /** Of the last event; undefined without a log. */
  seal: Seal | undefined;
}
