import { capturesOf } from '../intake/http/koa-router-quirks.ts';
import { onClosed } from '../intake/http/on-closed.ts';
import type { Context, PageRoute, ShowError } from '../intake/http/page-route.ts';
import { decodeStrictly } from '../readapi/query.ts';
import { Fault } from '../readapi/fault.ts';
import type { ReadLimits } from '../readapi/limits.ts';
import { TokenLimiter } from '../readapi/token-limiter.ts';
import { answerWithRoom, type RoomOptions } from '../readapi/with-room.ts';
import type { Blindness } from '../record/get-blindness.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import { isFromThisSite } from '../login/same-site.ts';
import { Assets } from './assets.ts';
import { showErrorOf } from './error-page.ts';
import { createOrganization, home } from './home.ts';
import { createLayout, type MakePage } from './layout.ts';
import type { OverviewData } from './overview-data.ts';
import { blindness, blindNotice } from './screens/blindness.ts';
import { PageZones } from './page-zone.ts';
import { nothingHere } from './path-ids.ts';
import { execution, executionJson } from './screens/execution.ts';
import { acknowledge, alert } from './screens/alert.ts';
import { alerts } from './screens/alerts.ts';
import { compare } from './screens/compare.ts';
import { closeExecution, noteExecution } from './screens/execution-acts.ts';
import { endMute, mute, mutes } from './screens/mutes.ts';
import { executions } from './screens/executions.ts';
import { liveExecutions } from './screens/live-executions.ts';
import { automation } from './screens/automation.ts';
import { automations } from './screens/automations.ts';
import { errors } from './screens/errors.ts';
import { liveAutomation, liveChanges, liveExecution } from './screens/live-changes.ts';
import { downloadOf } from './screens/download.ts';
import { proof } from './screens/proof.ts';
import { sendTest } from './screens/send-test.ts';
import { overview, overviewMs } from './screens/overview.ts';
import { automationsYaml } from './screens/automations-yaml.ts';
import { newAutomation, removeAutomation, saveAutomation } from './screens/manage-automation.ts';
import { snippets } from './screens/snippets.ts';
import { activity } from './screens/activity.ts';
import { channels, makeChannel, removeChannel } from './screens/channels.ts';
import { issueToken, revokeToken, rotateToken, tokenPage, tokens, tokenState } from './screens/tokens.ts';
import { liveTail, tail } from './screens/tail.ts';
import { SharedReads } from './shared-reads.ts';
import { Site } from './site.ts';
import {
  maySee,
  owns,
  type Act,
  type Action,
  type FindViewer,
  type NoteAccess,
  type NoteFirst,
  type Viewer,
} from './viewer.ts';
import { wantsPart, type Console, type KnownNames, type Screen } from './visit.ts';

export interface ConsolePagesOptions
  extends Omit<Console, 'site' | 'page' | 'overviews' | 'names' | 'blindness'>, Pick<RoomOptions, 'room'> {
  /** The id token of a request whose viewer logged in within the last hour. */
  proofOf: (ctx: Context) => Promise<string | undefined>;
  publicUrl: URL;
  limits: ReadLimits;
  findViewer: FindViewer;
  noteAccess?: NoteAccess | undefined;
  noteFirst?: NoteFirst | undefined;
}

/** The web console. */
export interface ConsolePages {
  routes: PageRoute[];
  showError: ShowError;
  /** The frame of every page, for the pages of the login. */
  page: MakePage;
}

/** How long pages share the names of an organization's automations, in ms. */
const namesMs = 10_000;

/** How long pages share the answer on how far the record is behind, in ms. */
const blindnessMs = 5_000;

const screens: readonly Screen[] = [
  overview,
  blindness,
  liveChanges,
  automations,
  newAutomation,
  saveAutomation,
  removeAutomation,
  snippets,
  automationsYaml,
  automation,
  liveAutomation,
  executions,
  liveExecutions,
  execution,
  executionJson,
  liveExecution,
  compare,
  noteExecution,
  closeExecution,
  proof,
  errors,
  alerts,
  alert,
  acknowledge,
  mutes,
  mute,
  endMute,
  sendTest,
  tail,
  liveTail,
  tokens,
  issueToken,
  tokenPage,
  tokenState,
  rotateToken,
  revokeToken,
  channels,
  makeChannel,
  removeChannel,
  activity,
];

/**
 * Creates the pages of the console. They check the viewer, the organization and the limits, in this
 * order.
 */
export function createConsolePages(options: ConsolePagesOptions): ConsolePages {
  const assets = new Assets();
  const site = new Site(options.publicUrl, assets);
  const page = createLayout(site);
  const shared = {
    overviews: new SharedReads<OverviewData>(overviewMs),
    names: new SharedReads<KnownNames>(namesMs),
    blindness: new SharedReads<Blindness>(blindnessMs),
  };
  const console: Console = { ...options, ...shared, site, page };
  const visit = createVisits(console, options);
  const routes = [...screens, downloadOf(console, options)].map((screen) => ({
    path: `/o/:organization${screen.path}`,
    methods: screen.method === undefined ? (['GET', 'HEAD'] as const) : [screen.method],
    answer: visit(screen),
  }));
  const ofViewer = (path: string, show: typeof home): PageRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    answer: async (ctx) => {
      const viewer = await options.findViewer(ctx);
      ctx.state['viewer'] = viewer;
      if (viewer === undefined) sendToLogin(ctx, site);
      else show(ctx, viewer, console);
    },
  });
  const starts = [ofViewer('/', home), ofViewer('/organizations', createOrganization)];
  return { routes: [...starts, assets.route(), ...routes], showError: showErrorOf(site, page), page };
}

/** Returns a function that handles the requests of a screen. */
function createVisits(
  console: Console,
  { findViewer, proofOf, noteAccess, noteFirst, limits, readMetrics, room }: ConsolePagesOptions,
): (screen: Screen) => PageRoute['answer'] {
  const zones = new PageZones();
  const requests = new TokenLimiter(limits);
  const streams = new TokenLimiter({ rate: limits.streams, concurrency: limits.streams });
  const admit = (ctx: Context, { subject }: Viewer, limit: Screen['limit']): void => {
    const end = (limit === 'streams' ? streams : requests).take(subject);
    if (typeof end === 'string') {
      readMetrics.reject(limit === 'streams' ? limit : end);
      throw new RequestError('too-many-requests', 'You have sent too many requests at once.');
    }
    onClosed(ctx.res, end);
  };
  return ({ answer, limit, texts, method, owner, recent }) =>
    async (ctx) => {
      const viewer = await findViewer(ctx);
      if (viewer === undefined) {
        sendToLogin(ctx, console.site);
        return;
      }
      ctx.state['viewer'] = viewer;
      const organization = organizationOf(ctx, viewer);
      ctx.state.organization = organization;
      admit(ctx, viewer, limit);
      const note = (act: Action, detail: string) => noteAccess?.(ctx, viewer, organization, act, detail);
      const first = async (act: Act, detail: string) => noteFirst?.(ctx, viewer, organization, act, detail);
      const proof = owner && owns(viewer, organization) ? await proofOf(ctx) : undefined;
      const refusal = refusalOf(ctx, console.site, { method, owner, recent }, { viewer, organization, proof });
      if (refusal !== undefined) {
        await note('refused', ctx.path);
        throw new RequestError('insufficient-scope', refusal);
      }
      if (method === undefined) await noteAccess?.(ctx, viewer, organization);
      // A browser that has gone by now costs no query and gets no stream.
      if (ctx.res.closed) return;
      const zone = zones.of(ctx);
      const notice = limit !== undefined || wantsPart(ctx) ? undefined : await blindNotice(console, organization, zone);
      const page: MakePage = (content) => console.page({ ...content, zone: zone.name, notice });
      const make = () =>
        answer(
          { ctx, viewer, organization, now: Date.now(), zone, proof, note, noteFirst: first },
          { ...console, page },
        );
      if (limit !== undefined) await make();
      else await answerWithRoom(ctx, organization, { room, readMetrics }, texts, make);
    };
}

/** Why a viewer may not send this request; undefined if it is allowed. */
function refusalOf(
  ctx: Context,
  { publicUrl }: Site,
  { method, owner, recent }: { [name in 'method' | 'owner' | 'recent']: Screen[name] | undefined },
  { viewer, organization, proof }: { viewer: Viewer; organization: string; proof: string | undefined },
): string | undefined {
  if (method === 'POST' && !isFromThisSite(ctx, publicUrl))
    return 'This form must be sent from a page of this console.';
  if (owner && !owns(viewer, organization)) return `Only owners of ${organization} may do that.`;
  if (recent && proof === undefined) return 'Your login is older than an hour: log in again, then repeat this.';
  return undefined;
}

/** @throws {RequestError} 404, the same whether the organization exists or not. */
function organizationOf(ctx: Context, viewer: Viewer): string {
  const [segment = ''] = capturesOf(ctx);
  const organization = decodeStrictly(segment);
  if (!(organization instanceof Fault) && maySee(viewer, organization)) return organization;
  throw nothingHere();
}

/** Redirects a request for a page. A script gets 401, so that the page in view stays open. */
function sendToLogin(ctx: Context, { base }: Site): void {
  const wantsPage = !wantsPart(ctx) && ctx.accepts('json', 'text/event-stream', 'html') === 'html';
  if (!wantsPage) throw new RequestError('unauthorized', 'Your session has ended: log in again.');
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(`${base}/login?to=${encodeURIComponent(ctx.url)}`);
}
