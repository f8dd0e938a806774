import { html, type Html } from '../kit/html/html.ts';

interface Kind {
  status: number;
  title: string;
  /** What happened and what to do, one sentence each. */
  texts: readonly string[];
}

/** The unsuccessful outcomes of a login or logout. */
const kinds = {
  'provider-unavailable': {
    status: 503,
    title: 'The login service does not answer',
    texts: ['Your OpenID Connect provider cannot be reached now. Try again, or log in with a read token.'],
  },
  'provider-refused': {
    status: 403,
    title: 'The login was refused',
    texts: ['Your OpenID Connect provider did not log you in. Ask its administrators for access to Runledger.'],
  },
  'not-valid': {
    status: 400,
    title: 'This login is not valid any more',
    texts: ['It took longer than ten minutes, was already completed, or began in another browser. Log in again.'],
  },
  'too-many-attempts': {
    status: 429,
    title: 'Too many logins have failed',
    texts: ['Many logins from your network address failed within a minute. Wait a minute, then load this page again.'],
  },
  'no-organization': {
    status: 403,
    title: 'No organization for you yet',
    texts: [
      'You are logged in, but none of your groups leads to an organization here.',
      'Ask the operators of Runledger to add one of your groups to OIDC_ORGANIZATIONS, then log in again.',
    ],
  },
  'too-many-groups': {
    status: 403,
    title: 'Your account has too many groups',
    texts: [
      'Your provider left your groups out of the login, because there are too many of them (overage).',
      'Ask its administrators to send only the groups that are assigned to this application.',
    ],
  },
  'link-used': {
    status: 410,
    title: 'This link has been used, or is too old',
    texts: ['A link works once, for 15 minutes. Start Runledger again for a new one, or log in with a read token.'],
  },
  'other-site': {
    status: 403,
    title: 'This form did not come from this console',
    texts: ['Another web site sent it, so nothing has changed. Open the console and use its own form.'],
  },
} as const satisfies Record<string, Kind>;

export type Outcome = keyof typeof kinds;

/** The page of an outcome, and its HTTP status. `who` is the person, if known. */
export function outcomePage(
  outcome: Outcome,
  { base, who, detail }: { base: string; who?: string | undefined; detail?: string | undefined },
): { status: number; title: string; body: Html } {
  const { status, title, texts }: Kind = kinds[outcome];
  const body = html`<section class="narrow login">
    <h1>${title}</h1>
    ${texts.map((text) => html`<p>${text}</p>`)}
    ${who !== undefined && html`<p>Your account: <strong>${who}</strong></p>`}
    ${detail !== undefined && html`<p>Answer of the provider: <code>${detail}</code></p>`}
    <a class="button primary" href="${base}/login">To the login</a>
  </section>`;
  return { status, title, body };
}
