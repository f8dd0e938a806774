import { givenToken } from '../intake/http/authenticate.ts';
import { RequestError, unavailable, type FieldError } from '../kit/errors/request-error.ts';
import type { Asked, GivenToken, MadeToken, Scope, ShownToken } from '../login/token-desk.ts';
import { answerJson } from './answer-json.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { Fault } from './fault.ts';
import { malformedBody, readObject, requestIdOf, type ManageOptions } from './manage-request.ts';
import { oneOf, sha256, storableText, type Parameter } from './parameters.ts';
import { readPath } from './path.ts';
import { readQuery } from './query.ts';

/** `GET /v1/tokens/`: the tokens in force, and those that were requested lately. */
export function listTokens({ tokens }: ManageOptions): Endpoint {
  return {
    path: '/v1/tokens/',
    answer: async (ctx) => {
      readQuery(ctx, {});
      const list = await tokens.list(ctx.state.organization);
      answerJson(ctx, { items: list.map(tokenOf) }, { changesAlways: true });
    },
  };
}

/** `GET /v1/tokens/{token_id}/` */
export function showToken(options: ManageOptions): Endpoint {
  return {
    path: '/v1/tokens/{token_id}/',
    answer: async (ctx) => answerJson(ctx, tokenOf(await findToken(ctx, options)), { changesAlways: true }),
  };
}

/** `POST /v1/tokens/`: makes a token, here or from its digest. */
export function issueToken(options: ManageOptions): Endpoint {
  return {
    path: '/v1/tokens/',
    method: 'POST',
    answer: async (ctx) => {
      const read = await Fields.of(ctx);
      const kind = read.required('kind', oneOf<Scope>(['write', 'read', 'ping', 'manage']));
      const name = read.required('name', storableText(1, 100));
      const given = read.given();
      read.end();
      if (kind === 'manage') throw ofOwners();
      const { organization } = ctx.state;
      const known = given && (await options.tokens.list(organization)).find(({ digest }) => digest === given.digest);
      if (known !== undefined && known.kind !== kind) throw takenDigest('is of a token of another kind');
      if (known !== undefined && known.state !== 'refused') {
        answerJson(ctx, tokenOf(known), { changesAlways: true });
        return;
      }
      const asked = await askedOf(ctx, options);
      await answerMade(ctx, options, await options.tokens.issue(asked, { kind, name }, given));
      options.note(ctx, 'issued', `${kind} token ${name}`);
    },
  };
}

/** Longest time for which a replaced token may stay in force, in seconds. */
const longestOverlap = 30 * 86_400;

/** `POST /v1/tokens/{token_id}/rotate/`: makes a token that replaces another one. */
export function rotateToken(options: ManageOptions): Endpoint {
  return {
    path: '/v1/tokens/{token_id}/rotate/',
    method: 'POST',
    answer: async (ctx) => {
      const read = await Fields.of(ctx);
      const seconds = read.seconds('overlap_seconds', longestOverlap) ?? 86_400;
      const given = read.given();
      read.end();
      const old = await findToken(ctx, options);
      if (old.kind === 'manage') throw ofOwners();
      if (given?.digest === old.digest) throw takenDigest('is of the token itself');
      const asked = await askedOf(ctx, options);
      const until = new Date(Date.now() + seconds * 1_000);
      await answerMade(ctx, options, await options.tokens.rotate(asked, old, until, given));
      options.note(ctx, 'rotated', `${old.kind} token ${old.name ?? old.id}`);
    },
  };
}

/** `DELETE /v1/tokens/{token_id}/`: revokes a token. */
export function revokeToken(options: ManageOptions): Endpoint {
  return {
    path: '/v1/tokens/{token_id}/',
    method: 'DELETE',
    answer: async (ctx) => {
      const token = await findToken(ctx, options);
      if (token.kind === 'manage') throw ofOwners();
      await options.tokens.revoke(await askedOf(ctx, options), token);
      options.note(ctx, 'revoked', `${token.kind} token ${token.name ?? token.id}`);
      answerJson(ctx, { ...tokenOf(token), state: 'being revoked' }, { changesAlways: true });
      ctx.status = 202;
    },
  };
}

function tokenOf(token: ShownToken): object {
  return {
    id: token.id,
    kind: token.kind,
    name: token.name ?? null,
    last_four: token.lastFour ?? null,
    made_by: token.madeBy ?? null,
    made_at: token.madeAt?.toISOString() ?? null,
    used_on: token.usedOn ?? null,
    expires_at: token.expiresAt?.toISOString() ?? null,
    state: token.state,
    error: token.error ?? null,
  };
}

function takenDigest(detail: string): RequestError {
  return malformedBody([{ pointer: '/digest', detail }]);
}

/** Such a token could otherwise make itself a successor that outlives its revocation. */
function ofOwners(): RequestError {
  return new RequestError(
    'insufficient-scope',
    'Only owners make, rotate and revoke manage tokens, in the console under Settings.',
  );
}

/** @throws {RequestError} 404 if the organization has no such token. */
async function findToken(ctx: Ctx, { tokens }: ManageOptions): Promise<ShownToken> {
  const { token_id } = readPath(ctx, 'token_id');
  const found = (await tokens.list(ctx.state.organization)).find(({ id }) => id === token_id);
  if (found === undefined) throw new RequestError('not-found', 'There is no such token: it was revoked.');
  return found;
}

type Ctx = Parameters<Answer>[0];

/** The controller believes no console: the request carries the manage token as its proof. */
async function askedOf(ctx: Ctx, { tokens }: ManageOptions): Promise<Asked> {
  const formId = requestIdOf(ctx);
  const problem = await tokens.problem();
  if (problem !== undefined) throw unavailable(problem);
  return { organization: ctx.state.organization, formId, proof: { manageToken: givenToken(ctx.req.headers) } };
}

/** Answers with a token that was requested; a token that was made here is shown this once. */
async function answerMade(ctx: Ctx, { tokens }: ManageOptions, made: MadeToken | undefined): Promise<void> {
  if (made === undefined) {
    throw new RequestError('idempotency-key-reused', 'This key was used before, and a token is shown only once.');
  }
  const token = (await tokens.list(ctx.state.organization)).find(({ digest }) => digest === made.digest);
  if (token === undefined) throw unavailable('The token was requested, and is not listed yet.');
  answerJson(ctx, { ...tokenOf(token), token: made.token ?? null }, { changesAlways: true });
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 201;
}

/** Reads the fields of a body, and collects their faults. */
class Fields {
  readonly #values: Map<string, unknown>;
  readonly #faults: FieldError[] = [];

  private constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = new Map(Object.entries(values));
  }

  static async of(ctx: Ctx): Promise<Fields> {
    return new Fields(await readObject(ctx));
  }

  /** The value of a required field. It is only valid if `end` does not throw. */
  required<Value>(name: string, read: Parameter<Value>): Value {
    const value = this.#take(name);
    const found =
      typeof value === 'string' ? read(value) : new Fault(value === undefined ? 'is required' : 'must be a text');
    if (found instanceof Fault) this.#faults.push({ pointer: `/${name}`, detail: found.detail });
    return found as Value;
  }

  seconds(name: string, most: number): number | undefined {
    const value = this.#take(name) ?? undefined;
    const isValid = value === undefined || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most);
    if (!isValid) this.#faults.push({ pointer: `/${name}`, detail: `must be a whole number from 0 to ${most}` });
    return isValid ? (value as number | undefined) : undefined;
  }

  /** The token that the caller made; undefined to make one here. */
  given(): GivenToken | undefined {
    const lastFour = this.#values.has('last_four') ? this.required('last_four', storableText(4, 4)) : '';
    if (!this.#values.has('digest')) return undefined;
    return { digest: this.required('digest', sha256), lastFour };
  }

  /** @throws {RequestError} that names every faulty or unknown field. */
  end(): void {
    for (const name of this.#values.keys())
      this.#faults.push({ pointer: `/${name.slice(0, 100)}`, detail: 'is unknown' });
    if (this.#faults.length > 0) throw malformedBody(this.#faults);
  }

  #take(name: string): unknown {
    const value = this.#values.get(name);
    this.#values.delete(name);
    return value;
  }
}
