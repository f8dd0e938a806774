import { randomUUID } from 'node:crypto';
import type { EventKind } from '../../internal/event/schema.ts';
import type { ExecutionState } from '../../internal/event/outcome/execution-state.ts';
import { fleet, type FleetMember } from './names.ts';

/** One request of the demo. */
export interface DemoEvent {
  automation_id: string;
  execution_id: string;
  event: EventKind;
  description: string;
  error_id?: string;
  error_description?: string;
}

/** An execution as its automation reports it, and its expected outcome. */
export interface DemoExecution {
  automation: string;
  events: DemoEvent[];
  state: ExecutionState;
}

/** Shares of executions that fail, warn and never end; the rest succeed. */
export interface Temper {
  name: string;
  failing: number;
  warning: number;
  endless: number;
}

export interface DemoAutomation extends Temper {
  id: string;
}

/** How many automations of the fleet the live demo plays. */
const played = 10;

/** The first automations of the fleet with new ids, so that two demos never mix. */
export function createFleet(): DemoAutomation[] {
  return fleet.slice(0, played).map((member) => ({ ...member, name: nameOf(member), id: randomUUID() }));
}

function nameOf({ name = 'Unnamed' }: FleetMember): string {
  return name;
}

/** One execution: START, progress, perhaps a WARNING, then END, or ERROR and END, or no end. */
export function playExecution(automation: DemoAutomation, number: number): DemoExecution {
  const fails = Math.random() < automation.failing;
  const endless = !fails && Math.random() < automation.endless;
  const common = { automation_id: automation.id, execution_id: `${new Date().toISOString()}-${number}` };
  const event = (kind: EventKind, description: string): DemoEvent => ({ ...common, event: kind, description });
  const steps = 1 + Math.floor(Math.random() * 4);
  const events = [event('START', `${automation.name} begins`)];
  for (let step = 1; step <= steps; step += 1) events.push(event('EVENT', `step ${step} of ${steps} done`));
  if (Math.random() < automation.warning) events.push(event('WARNING', 'the source answers slowly'));
  if (fails) events.push(failure(event('ERROR', 'could not finish')));
  if (!endless) events.push(event('END', `${automation.name} ends`));
  return { automation: automation.id, events, state: stateOf(fails, endless) };
}

/** Causes of failures, most frequent first. */
const causes = [
  {
    error_id: 'E-TIMEOUT',
    error_description:
      'TimeoutError: no answer within 30 s\n  at fetchPage (steps/fetch.js:48:11)\n  at run (main.js:21:5)',
  },
  {
    error_id: 'E-LAYOUT',
    error_description:
      'ElementNotFound: no button "Export" on /reports\n  at click (steps/export.js:12:9)\n  at run (main.js:24:5)',
  },
  {
    error_id: 'E-LOGIN',
    error_description:
      'LoginError: the portal answered 401, the password has expired\n  at logIn (steps/login.js:7:13)',
  },
] as const;

function failure(event: DemoEvent): DemoEvent {
  const [first] = causes;
  return { ...event, ...(causes[Math.floor(Math.random() ** 2 * causes.length)] ?? first) };
}

function stateOf(fails: boolean, endless: boolean): ExecutionState {
  if (fails) return 'failed';
  return endless ? 'running' : 'succeeded';
}
