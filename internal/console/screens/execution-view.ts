import type { Surroundings } from '../../record/around-execution.ts';
import type { Execution } from '../../record/execution.ts';
import type { Seal } from '../../record/log.ts';
import type { Page } from '../../record/page.ts';
import type { EventPosition, StoredEvent } from '../../record/stored-event.ts';

/** All that the page of an execution shows. */
export interface ExecutionView {
  execution: Execution;
  /** Of the automation, if it is declared. */
  name: string | undefined;
  around: Surroundings;
  events: Page<StoredEvent, EventPosition>;
  /** Of the last event; undefined without a log. */
  seal: Seal | undefined;
}
