import type { Act } from '../../record/acts.ts';
import type { Surroundings } from '../../record/around-execution.ts';
import type { Execution } from '../../record/execution.ts';
import type { Seal } from '../../record/ledger.ts';
import type { Timeline } from '../../record/list-timeline.ts';
import type { TimelineQuery } from './timeline-query.ts';

/** Everything that the page of an execution shows. */
export interface ExecutionView {
  execution: Execution;
  /** The automation's name, if it has one. */
  name: string | undefined;
  around: Surroundings;
  /** What owners did about it, newest first. */
  acts: Act[];
  /** The part of the timeline that the address asks for. */
  query: TimelineQuery;
  events: Timeline;
  /** The first errors, in order of acceptance. */
  errors: Timeline;
  /** Of the last event; undefined without a log. */
  seal: Seal | undefined;
}
