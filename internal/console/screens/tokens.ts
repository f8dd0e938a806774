import { capturesOf } from '../../intake/http/koa-router-quirks.ts';
import { html, type Content, type Html } from '../../kit/html/html.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { Fault } from '../../readapi/fault.ts';
import { oneOf, storableText } from '../../readapi/parameters.ts';
import { leadTo } from '../../login/page.ts';
import type { Asked, MadeToken, ShownToken } from '../../login/token-desk.ts';
import { field, formIdField, formIdOf, malformed, readForm, type Form } from '../forms.ts';
import { copyButton } from '../parts/ids.ts';
import { age } from '../parts/time.ts';
import { nothingHere } from '../path-ids.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { firstCommand } from './first-command.ts';
import { answerSettings, loginAgainNotice } from './settings.ts';

const kinds = {
  write: 'Write: reports events',
  read: 'Read: reads the record and logs in to this console',
  ping: 'Ping: works only in ping addresses',
  manage: 'Manage: changes tokens and declarations over the API',
} as const;

const kindOf = oneOf(['write', 'read', 'ping', 'manage']);
const nameOf = storableText(1, 100);

/** How long the old token stays valid after a rotation: hours → words. */
const overlaps = [
  [0, 'Not at all'],
  [1, '1 hour'],
  [24, '1 day'],
  [168, '1 week'],
  [720, '30 days'],
] as const;

const path = 'settings/tokens';

/** The tokens of the organization, and the form for a new one. */
export const tokens: Screen = {
  path: '/settings/tokens',
  owner: true,
  answer: async (visit, console) => {
    const [list, problem] = await Promise.all([console.tokens.list(visit.organization), console.tokens.problem()]);
    const isChanging = list.some(({ state }) => state !== 'in force' && state !== 'refused');
    const place = console.site.of(visit.organization, path);
    const again = html`hx-get="${place}" hx-select="#tokens" hx-trigger="load delay:500ms" hx-swap="outerHTML"`;
    const body = html`${form(visit, console, problem, newForm(visit, console))}
      <section class="card" id="tokens" aria-label="Tokens" ${isChanging && again}>
        ${list.length === 0 ? noToken(visit) : table(list, visit, console)}
      </section>`;
    answerSettings(visit, console, { title: 'Tokens', path, body });
  },
};

/** One token: its state, and the forms to rotate and to revoke it. */
export const tokenPage: Screen = {
  path: '/settings/tokens/:token',
  owner: true,
  answer: async (visit, console) => {
    const [token, problem] = await Promise.all([tokenOf(visit, console), console.tokens.problem()]);
    const forms = html`${rotateForm(token, visit, console)} ${revokeForm(token, visit, console)}`;
    const body = html`<section class="card" aria-label="Token">
        ${table([token], visit, console)} ${statePart(token, visit, console)}
      </section>
      ${form(visit, console, problem, forms)}`;
    answerSettings(visit, console, { title: titleOf(token), path, body });
  },
};

/** The state of a token: the part of the page that changes. */
export const tokenState: Screen = {
  path: '/settings/tokens/:token/state',
  owner: true,
  answer: async (visit, console) => {
    const token = await tokenOf(visit, console).catch(() => undefined);
    answerHtml(visit.ctx, token === undefined ? goneState : statePart(token, visit, console));
  },
};

/** Creates a token and shows it once. */
export const issueToken: Screen = {
  path: '/settings/tokens',
  method: 'POST',
  owner: true,
  recent: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const [kind, name] = [kindOf(given('kind')), nameOf(given('name'))];
    if (name instanceof Fault) throw malformed(`The name ${name.detail}.`);
    if (kind instanceof Fault) throw malformed(`The kind ${kind.detail}.`);
    const made = await console.tokens.issue(askedOf(visit, given), { kind, name });
    await showOnce(made, { kind, name }, visit, console, 'issued');
  },
};

/** Creates a token that replaces another one, and shows it once. */
export const rotateToken: Screen = {
  path: '/settings/tokens/:token/rotate',
  method: 'POST',
  owner: true,
  recent: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const overlap = overlaps.find(([hours]) => String(hours) === given('hours'));
    if (overlap === undefined) throw malformed('Choose how long both tokens are in force.');
    const old = await tokenOf(visit, console);
    const until = new Date(visit.now + overlap[0] * 3_600_000);
    const made = await console.tokens.rotate(askedOf(visit, given), old, until);
    await showOnce(made, { kind: old.kind, name: old.name ?? '' }, visit, console, 'rotated');
  },
};

/** Revokes a token once its name or id was typed to confirm. */
export const revokeToken: Screen = {
  path: '/settings/tokens/:token/revoke',
  method: 'POST',
  owner: true,
  recent: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const token = await tokenOf(visit, console);
    if (given('confirm') !== (token.name ?? token.id)) {
      throw malformed(`Nothing was revoked: type ${token.name ?? token.id} to confirm.`);
    }
    if (await console.tokens.revoke(askedOf(visit, given), token)) {
      await visit.note('revoked', `${token.kind} token ${titleOf(token)}`);
    }
    const { site } = console;
    leadTo(visit.ctx, `${site.publicUrl.origin}${site.of(visit.organization, path)}`);
  },
};

async function showOnce(
  made: MadeToken | undefined,
  { kind, name }: Pick<ShownToken, 'kind' | 'name'>,
  visit: Visit,
  console: Console,
  action: 'issued' | 'rotated',
): Promise<void> {
  if (made?.token === undefined)
    throw malformed('This form was already sent. A token is shown only once: rotate it to get a new one.');
  await visit.note(action, `${kind} token ${name}`);
  const { digest, token } = made;
  const shown = (await console.tokens.list(visit.organization)).find((one) => one.digest === digest);
  const command = firstCommand(console, { kind, token });
  const body = html`<section class="card padded once">
    <p>Copy the token now: it is shown only once and stored nowhere.</p>
    <div class="command">
      <pre data-token>${token}</pre>
      ${copyButton(token, 'the token')}
    </div>
    <p>Try it:</p>
    <div class="command">
      <pre>${command}</pre>
      ${copyButton(command, 'the command')}
    </div>
    ${shown !== undefined && statePart(shown, visit, console)}
    <p class="actions"><a class="button" href="${console.site.of(visit.organization, path)}">I have kept it</a></p>
  </section>`;
  answerSettings(visit, console, { title: `Token ${name}`, path, body, holdsSecret: true });
}

function askedOf({ organization, proof = '' }: Visit, given: Form): Asked {
  return { organization, formId: formIdOf(given), proof: { idToken: proof } };
}

/** @throws {RequestError} 404 if the organization has no such token. */
async function tokenOf({ ctx, organization }: Visit, console: Console): Promise<ShownToken> {
  const [, id = ''] = capturesOf(ctx);
  const token = (await console.tokens.list(organization)).find((one) => one.id === id);
  if (token === undefined) throw nothingHere('There is no such token: it was revoked.');
  return token;
}

function titleOf({ name, id }: ShownToken): string {
  return name ?? id;
}

/** A form, or the reason why there is none. */
function form(visit: Visit, console: Console, problem: string | undefined, content: Html): Html {
  if (problem !== undefined) return commandInstead(visit, problem);
  return visit.proof === undefined ? loginAgainNotice(visit, console) : content;
}

/** The command that operators use where the console cannot change tokens. */
function commandInstead({ organization }: Visit, problem: string): Html {
  const command = `runledger-admin token create > token && runledger-admin token secret --organization ${organization} < token`;
  return html`<section class="card padded" aria-label="Tokens cannot be changed here">
    <p><strong>Tokens cannot be changed here now.</strong> ${problem}</p>
    <p>The operators of Runledger create one with this command, and apply the Secret that it prints:</p>
    <div class="command">
      <pre>${command}</pre>
      ${copyButton(command, 'the command')}
    </div>
  </section>`;
}

function newForm({ organization }: Visit, { site }: Console): Html {
  return html`<form class="card padded fields" method="post" action="${site.of(organization, path)}">
    ${formIdField()}
    ${field('Name', html`<input name="name" required maxlength="100" placeholder="Invoice robot" autocomplete="off" />`, 'Who or what uses it.')}
    ${field(
      'Kind',
      html`<select name="kind">
        ${Object.entries(kinds).map(([kind, words]) => html`<option value="${kind}">${words}</option>`)}
      </select>`,
    )}
    <button class="primary">Make a token</button>
  </form>`;
}

function rotateForm({ id }: ShownToken, { organization }: Visit, { site }: Console): Html {
  return html`<form class="card padded fields" method="post" action="${site.of(organization, `${path}/${id}/rotate`)}">
    <h2>Rotate</h2>
    ${formIdField()}
    ${field(
      'The old token stays in force',
      html`<select name="hours">
        ${overlaps.map(([hours, words]) => html`<option value="${hours}" ${hours === 24 && html`selected`}>${words}</option>`)}
      </select>`,
      'A new token is created now. Change your producers within this time.',
    )}
    <button class="primary">Make a new token</button>
  </form>`;
}

function revokeForm(token: ShownToken, { organization }: Visit, { site }: Console): Html {
  const action = site.of(organization, `${path}/${token.id}/revoke`);
  return html`<form class="card padded fields" method="post" action="${action}">
    <h2>Revoke</h2>
    ${formIdField()}
    ${field(
      html`Type <strong>${titleOf(token)}</strong> to confirm`,
      html`<input name="confirm" required autocomplete="off" />`,
      'Producers with this token get 401 within two seconds. If a tool applies it from a Secret, remove it there too, or it comes back.',
    )}
    <button class="danger">Revoke the token</button>
  </form>`;
}

function table(list: readonly ShownToken[], visit: Visit, { site }: Console): Html {
  const when = (at: Date | undefined): Content => (at === undefined ? '–' : age(at.toISOString(), visit.now));
  return html`<table class="rows tokens">
    <thead>
      <tr>
        <th scope="col">Token</th>
        <th scope="col">Kind</th>
        <th scope="col">Made</th>
        <th scope="col">Last used</th>
        <th scope="col">State</th>
      </tr>
    </thead>
    <tbody>
      ${list.map(
        (token) =>
          html`<tr data-row>
            <td>
              <a class="name row-link" href="${site.of(visit.organization, `${path}/${token.id}`)}"
                ><bdi>${titleOf(token)}</bdi></a
              >
              <small class="quiet"
                >${token.lastFour === undefined ? 'from a Secret' : html`ends in <code>${token.lastFour}</code>`}</small
              >
            </td>
            <td>${token.kind}</td>
            <td>
              ${when(token.madeAt)}
              ${token.madeBy !== undefined && html`<small class="quiet">by <bdi>${token.madeBy}</bdi></small>`}
            </td>
            <td>${token.usedOn ?? 'never used'}</td>
            <td>
              ${token.state}
              ${token.expiresAt !== undefined && html`<small class="quiet">until ${token.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</small>`}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function noToken({ organization }: Visit): Html {
  return html`<div class="empty">
    <h2>No token yet</h2>
    <p>${organization} needs a write token to report events. Name one above and create it.</p>
  </div>`;
}

const words = {
  'in force': 'In force: every ingest accepts it.',
  'being set up': 'Being set up …',
  'being revoked': 'Being revoked …',
  refused: 'Refused.',
} as const;

/** Polls until the state is final. */
function statePart({ id, state, error }: ShownToken, { organization }: Visit, { site }: Console): Html {
  const isFinal = state === 'in force' || state === 'refused';
  const poll = html`hx-get="${site.of(organization, `${path}/${id}/state`)}" hx-trigger="load delay:400ms"
  hx-swap="outerHTML"`;
  return html`<p class="fine token-state" role="status" data-state="${state}" ${!isFinal && poll}>
    ${words[state]} ${error}
  </p>`;
}

const goneState = html`<p class="fine token-state" role="status" data-state="revoked">Revoked.</p>`;
