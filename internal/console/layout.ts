import { html, nothing, type Content, type Html } from '../kit/html/html.ts';
import { icon, iconSheet } from './parts/marks.ts';
import { keysDialog, sessionEnded, viewerMenu } from './parts/chrome.ts';
import type { Site } from './site.ts';
import { owns, type Viewer } from './viewer.ts';

/** A page of the console. */
export interface PageContent {
  title: string;
  /** The viewer; absent on the login pages. */
  viewer?: Viewer | undefined;
  /** The organization in view. */
  organization?: string | undefined;
  section?: Section | undefined;
  /** The time zone of the page; absent without a viewer. */
  zone?: string | undefined;
  /** Shown above the page: what a viewer must know before reading it. */
  notice?: Html | undefined;
  /** The text in the search field, and the other filters that a search keeps. */
  search?: { text: string; kept: Readonly<Record<string, string>> } | undefined;
  /** Scripts that only this page needs, by their name in assets.ts. */
  scripts?: readonly string[];
  body: Content;
}

/** Makes a page from its content. */
export type MakePage = (content: PageContent) => Html;

/** The screens in navigation order: path → title. */
const sections = {
  '': 'Overview',
  automations: 'Automations',
  executions: 'Executions',
  errors: 'Errors',
  alerts: 'Alerts',
  tail: 'Tail',
  'settings/tokens': 'Settings',
} as const;
export type Section = keyof typeof sections;

/** htmx loads parts of pages and streams; the browser itself navigates between pages. */
const htmxConfig = JSON.stringify({ history: false, includeIndicatorCSS: false, prefix: '', extensions: 'sse' });

export function createLayout(site: Site): MakePage {
  return ({ title, viewer, organization, section, zone, notice, search, scripts = [], body }) => {
    const place = organization === undefined ? 'Runledger' : `${organization} · Runledger`;
    return html`<!doctype html>
      <html lang="en" ${zone !== undefined && html`data-zone="${zone}"`}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="htmx-config" content="${htmxConfig}" />
          <title>${title} · ${place}</title>
          <link rel="icon" href="${site.asset('icon.svg')}" type="image/svg+xml" />
          <link rel="stylesheet" href="${site.asset('console.css')}" />
          <script src="${site.asset('theme.js')}"></script>
          ${['console.js', ...scripts, 'htmx.js'].map((name) => html`<script src="${site.asset(name)}" defer></script>`)}
        </head>
        <body>
          ${iconSheet}
          <a class="skip" href="#content">Skip to content</a>
          ${header(site, { viewer, organization, section, search })} ${viewer && sessionEnded(site)} ${notice}
          <main id="content" tabindex="-1">${body}</main>
          ${viewer ? keysDialog() : nothing}
        </body>
      </html> `;
  };
}

type HeaderContent = Pick<PageContent, 'viewer' | 'organization' | 'section' | 'search'>;

function header(site: Site, { viewer, organization, section, search }: HeaderContent): Html {
  return html`<header class="top">
    <div class="brand">
      <a class="logo" href="${site.base}/"
        ><img src="${site.asset('icon.svg')}" alt="" width="22" height="22" />Runledger</a
      >
      ${organization !== undefined && html`<span class="slash" aria-hidden="true">/</span>${switcher(site, organization, viewer)}`}
    </div>
    ${organization !== undefined && navigation(site, organization, section, viewer)}
    ${organization !== undefined && searchForm(site, organization, search)} ${viewer && viewerMenu(site, viewer)}
  </header>`;
}

function switcher(site: Site, organization: string, viewer: Viewer | undefined): Html {
  const hasChoice = viewer !== undefined && viewer.organizations.length > 1;
  if (!hasChoice) return html`<span class="organization">${organization}</span>`;
  return html`<a class="organization" href="${site.base}/?choose" title="Choose another organization"
    >${organization}</a
  >`;
}

function navigation(site: Site, organization: string, current: Section | undefined, viewer: Viewer | undefined): Html {
  const isOwner = viewer !== undefined && owns(viewer, organization);
  const shown = Object.entries(sections).filter(([path]) => isOwner || path !== 'settings/tokens');
  const links = shown.map(
    ([path, title]) =>
      html`<li>
        <a href="${site.of(organization, path)}" ${path === current && html`aria-current="page"`}>${title}</a>
      </li>`,
  );
  return html`<nav aria-label="Screens">
    <ul>
      ${links}
    </ul>
  </nav>`;
}

function searchForm(site: Site, organization: string, search: PageContent['search']): Html {
  const kept = Object.entries(search?.kept ?? {});
  return html`<form class="search" role="search" action="${site.of(organization, 'executions')}">
    ${icon('search')}
    <input
      type="search"
      name="q"
      value="${search?.text}"
      maxlength="200"
      placeholder="Search executions"
      aria-label="Search executions by text or id"
      data-search
    />
    ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <kbd aria-hidden="true">/</kbd>
  </form>`;
}
