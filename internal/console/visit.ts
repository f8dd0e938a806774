import type { Context } from '../intake/http/page-route.ts';
import type { ConsoleMetrics } from '../record/console-metrics.ts';
import type { Blindness } from '../record/get-blindness.ts';
import type { Queries } from '../record/queries.ts';
import type { ManageOptions } from '../readapi/manage-request.ts';
import type { Streams } from '../readapi/stream/streams.ts';
import type { MakePage } from './layout.ts';
import type { PageZone } from './page-zone.ts';
import type { OverviewData } from './overview-data.ts';
import type { SharedReads } from './shared-reads.ts';
import type { Site } from './site.ts';
import type { TokenDesk } from '../login/token-desk.ts';
import type { Activity } from '../record/list-activity.ts';
import type { Act, Action, FindViewer, Viewer } from './viewer.ts';
import type { NewAct } from '../record/acts.ts';

/** What automations are found by. */
export interface KnownNames {
  /** Names by id. */
  names: ReadonlyMap<string, string>;
  /** The owner and the tags of each automation that has some, by id. */
  others: ReadonlyMap<string, readonly string[]>;
}

/** What screens share. */
export interface Console {
  site: Site;
  page: MakePage;
  record: Queries;
  streams: Streams;
  readMetrics: ConsoleMetrics;
  findViewer: FindViewer;
  /** The https address of ingest, for examples; undefined if unknown. */
  ingestUrl?: URL | undefined;
  /** File paths quoted for a shell, where Runledger runs on the reader's own machine. */
  localFiles?: { organization: string; certificate: string; token: string } | undefined;
  /** The figures of overviews, by organization and window, shared by their viewers. */
  overviews: SharedReads<OverviewData>;
  /** What declared automations are found by, by organization. */
  names: SharedReads<KnownNames>;
  /** How far the record is behind, by organization. */
  blindness: SharedReads<Blindness>;
  /** Puts a test of a channel into the outbox. */
  sendTest: (
    organization: string,
    channel: { namespace: string; name: string },
  ) => Promise<'sent' | 'waiting' | 'gone'>;
  /** Creates and revokes tokens. */
  tokens: TokenDesk;
  /** What owners declare in the console, and how it is written as a file of resources. */
  automations: {
    get(organization: string, automationId: string): Promise<unknown>;
  } & ManageOptions['automations'];
  /** The channels that owners make. */
  channels: {
    list(organization: string): Promise<{ name: string; type: string }[]>;
    /** Encrypts an address for the controller; undefined if none has published a key. */
    seal(address: { organization: string; name: string; url: string; token: string }): Promise<string | undefined>;
    make(organization: string, channel: { name: string; spec: object; sealed: string | null }): Promise<boolean>;
    remove(organization: string, name: string): Promise<boolean>;
  };
  /** Writes acts about alerts and executions; false if there is nothing that one could be about. */
  acts: { add(act: NewAct): Promise<boolean> };
  toYaml: (value: unknown) => string;
  /** The newest entries of an organization's access log, before a position. */
  listActivity: (organization: string, limit: number, before?: { at: Date; id: string }) => Promise<Activity[]>;
  /** The path of a new login; undefined where only a proxy or a link logs people in. */
  loginAgain: string | undefined;
  /** Age from which a running execution counts as overdue, in ms. */
  overdueAfterMs: number;
}

/** A viewer's request for a page of an organization that the viewer may see. */
export interface Visit {
  ctx: Context;
  viewer: Viewer;
  organization: string;
  /** The time of the request, in ms; all ages on a page are relative to it. */
  now: number;
  /** The zone of all times on the page. */
  zone: PageZone;
  /** On screens for owners: the id token of an owner who logged in within the last hour. */
  proof: string | undefined;
  /** Records an action in the access log. */
  note: (action: Action, detail: string) => Promise<void> | void;
  /** Records an act in the access log before it is done. */
  noteFirst: (act: Act, detail: string) => Promise<void>;
}

/** One screen, or a part of one. */
export interface Screen {
  /** After `/o/{organization}`: a pattern of the router, without a trailing slash. */
  path: string;
  /** Default: GET and HEAD. */
  method?: 'POST';
  answer: (visit: Visit, console: Console) => Promise<void> | void;
  /** Limits the screen to owners of the organization. Their actions write their own log entries. */
  owner?: true;
  /** Set for an action on a credential: it needs a login within the last hour. */
  recent?: true;
  /** Set if it shows texts of events, which needs more memory. */
  texts?: true;
  /** Set for an open stream or a file of any length: both are limited. */
  limit?: 'streams' | 'exports';
}

/** True if htmx requests a part of a page. */
export function wantsPart(ctx: Context): boolean {
  return ctx.get('HX-Request') === 'true';
}
