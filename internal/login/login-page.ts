import { html, type Html } from '../kit/html/html.ts';

export interface LoginForm {
  /** The path prefix of every link, without a trailing slash. */
  base: string;
  /** The page to show after the login. */
  to: string;
  /** The host of the OpenID Connect provider; undefined without one. */
  provider: string | undefined;
  /** Why the last attempt failed. */
  problem?: string | undefined;
}

/** The ways to log in: the provider, and the form for a read token. */
export function loginPage({ base, to, provider, problem }: LoginForm): Html {
  const start = `${base}/login/oidc?to=${encodeURIComponent(to)}`;
  return html`<section class="narrow login">
    <h1>Log in to Runledger</h1>
    ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      provider !== undefined &&
      html`<a class="button primary" href="${start}">Log in with ${provider}</a>
        <p class="or">or</p>`
    }
    <form method="post" action="${base}/login">
      <input type="hidden" name="to" value="${to}" />
      <label for="token">Read token</label>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="current-password"
        autocapitalize="off"
        spellcheck="false"
        maxlength="4096"
        required
        ${problem !== undefined && html`aria-invalid="true"`}
        aria-describedby="token-hint"
      />
      <button class="${provider === undefined && 'primary'}">Log in with the token</button>
      <p class="hint" id="token-hint">A read token begins with <code>rlr_</code>. It shows one organization.</p>
    </form>
  </section>`;
}
