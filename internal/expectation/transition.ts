import type { AutomationLink } from './automation.ts';
import type { AlertKind, Facts } from './verdict.ts';

/** An alert, as receivers get it; times in ms since the Unix epoch. */
export interface Alert {
  /** The id of its row. */
  id: string;
  organization: string;
  automationId: string;
  kind: AlertKind;
  occurrence: string;
  reason: string;
  facts: Facts;
  openedAt: number;
  /** Undefined while it is open. */
  resolvedAt: number | undefined;
  resolvedReason: string | undefined;
}

/** What people declared about the automation of an alert. */
export interface AlertedAutomation {
  namespace: string;
  name: string;
  displayName: string;
  owner: string;
  tags: string[];
  links: readonly AutomationLink[];
  alertLabels: Readonly<Record<string, string>>;
}

/**
 * A change of an alert in one tick. `opened` with `resolvedAt` means that it is already over, as
 * with each `late` and with alerts that began and ended between two ticks.
 */
export interface Transition {
  change: 'opened' | 'resolved';
  alert: Alert;
  /** As declared when the alert opened; undefined if unknown. */
  automation: AlertedAutomation | undefined;
  /** For a resolved alert: the channels notified when it opened, as `[namespace, name]`. */
  toldChannels?: readonly (readonly [namespace: string, name: string])[];
  /** True if a mute has kept back its opening, so that nobody needs to know its end. */
  isUntold?: boolean;
}

/** Why the watermark does not move, and since when. */
export interface Blindness {
  /** In ms since the Unix epoch. */
  since: number;
  /** One sentence for people. */
  reason: string;
}

/** Organizations whose record is complete only up to `until`, in ms since the Unix epoch. */
export interface Held {
  organizations: readonly string[];
  until: number;
}
