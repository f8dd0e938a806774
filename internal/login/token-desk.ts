import { randomUUID } from 'node:crypto';
import { createToken } from '../cluster/tokens/manifest.ts';
import { sealProof, type Proof, type ProvenRequest } from '../cluster/tokens/sealed-proof.ts';
import { digestOf, type Scope } from '../cluster/tokens/token-entry.ts';
import type { Database, Tables } from '../store/database.ts';
import { RequestError, unavailable } from '../kit/errors/request-error.ts';
import { isDuplicate } from '../store/errors.ts';
import { sql, type Insertable, type Selectable } from '../store/sql.ts';
import { serveQuery } from './serve-query.ts';
import type { Tokens } from './viewers.ts';

export type { Scope } from '../cluster/tokens/token-entry.ts';

/** A token of an organization, as owners see it. Absent fields are unknown. */
export interface ShownToken {
  digest: string;
  /** Identifies the token in addresses and logs. */
  id: string;
  kind: Scope;
  name?: string | undefined;
  lastFour?: string | undefined;
  madeBy?: string | undefined;
  madeAt?: Date | undefined;
  /** A day in UTC. */
  usedOn?: string | undefined;
  /** Set after a rotation: the token is valid until then. */
  expiresAt?: Date | undefined;
  state: 'in force' | 'being set up' | 'being revoked' | 'refused';
  /** Why it was refused or still waits. */
  error?: string | undefined;
}

/** An owner's request, with the proof for the controller. */
export interface Asked {
  organization: string;
  /** The id of the form: a form that is sent twice takes effect once. */
  formId: string;
  proof: Proof;
}

export interface NewToken {
  kind: Scope;
  name: string;
}

/** The SHA-256 of a token that the caller has made, and its last characters if they are known. */
export interface GivenToken {
  digest: string;
  lastFour: string;
}

/** A token that was requested. */
export interface MadeToken {
  digest: string;
  /** The clear text if it was made here: it cannot be read again later. */
  token?: string;
}

type Row = ProvenRequest & Insertable<Tables['token_requests']>;

/** Most requests of an organization that may wait for a controller. */
const mostWaiting = 100;

/** How long a finished or refused request is shown. */
const followedMs = 15_000;
const shownFor = sql<Date>`now() - interval '1 hour'`;

/**
 * Takes owners' requests about tokens. The console writes a request; a controller, which trusts
 * only the proof in it, acts on it. Secrets decide which tokens are valid, so the list comes
 * from the token source. Each operation throws a `RequestError` when Postgres cannot serve it now.
 */
export class TokenDesk {
  readonly #db: Database;
  readonly #tokens: Tokens;
  readonly #used = new Set<string>();
  #usedOn = '';

  constructor(db: Database, tokens: Tokens) {
    this.#db = db;
    this.#tokens = tokens;
  }

  /** One sentence on why no token can be created or revoked now; undefined if one can. */
  async problem(): Promise<string | undefined> {
    const keeper = await this.#keeper();
    return keeper === undefined ? noKeeper : (keeper.problem ?? undefined);
  }

  /** The controller that acts on requests; undefined if there is none. */
  #keeper() {
    return serve(() =>
      this.#db
        .selectFrom('token_keeper')
        .select(['problem', 'public_key'])
        .where('until', '>', sql<Date>`now()`)
        .executeTakeFirst(),
    );
  }

  /** All valid tokens, and those requested within the last hour. */
  async list(organization: string): Promise<ShownToken[]> {
    const inForce = this.#tokens.tokensOf(organization);
    const [known, requests] = await serve(() =>
      Promise.all([
        this.#db.selectFrom('tokens').selectAll().where('organization', '=', organization).execute(),
        this.#db
          .selectFrom('token_requests')
          .select(['act', 'digest', 'name', 'kind', 'last_four', 'expires_at', 'requested_at', 'done_at', 'error'])
          .where('organization', '=', organization)
          .where('requested_at', '>', shownFor)
          .orderBy('requested_at', 'desc')
          .execute(),
      ]),
    );
    const rows = new Map(known.map((row) => [row.digest, row]));
    const asked = Map.groupBy(requests, ({ digest }) => digest);
    const ended = new Set(requests.filter(endsToken).map(({ digest }) => digest));
    const issued = requests.filter(({ act, digest }) => act === 'issue' && !inForce.has(digest) && !ended.has(digest));
    // This process sees Secrets a little later than the controller writes them.
    const isYoung = (at: Date | null): boolean => at === null || Date.now() - at.getTime() < followedMs;
    const waiting = issued.filter(({ done_at, error }) => isYoung(done_at) || error !== null);
    const digests = [...inForce.keys(), ...waiting.map(({ digest }) => digest)];
    const uses = await this.#usesOf(digests.map(idOf));
    return digests.map((digest) => {
      const row = rows.get(digest);
      const [last] = asked.get(digest) ?? [];
      const issue = waiting.find((request) => request.digest === digest);
      const isRevoking = last?.act === 'revoke' && last.done_at === null;
      const hasFailed = last !== undefined && last.done_at !== null && last.error !== null;
      return {
        digest,
        id: idOf(digest),
        kind: inForce.get(digest) ?? issue?.kind ?? 'write',
        name: (row ?? issue)?.name || undefined,
        lastFour: (row ?? issue)?.last_four || undefined,
        madeBy: row?.made_by || undefined,
        madeAt: row?.made_by ? row.made_at : issue?.requested_at,
        usedOn: uses.get(idOf(digest)),
        expiresAt: row?.expires_at ?? undefined,
        state: isRevoking ? 'being revoked' : inForce.has(digest) ? 'in force' : hasFailed ? 'refused' : 'being set up',
        error: last?.error ?? undefined,
      };
    });
  }

  /**
   * Requests a token, made here unless it is `given`. Resolves with undefined if the form was sent
   * before.
   */
  issue(asked: Asked, token: NewToken, given?: GivenToken): Promise<MadeToken | undefined> {
    return this.#issue(asked, token, [], given);
  }

  /**
   * Requests a token that replaces another one, which stays valid until a time. As {@link issue}.
   */
  rotate(
    asked: Asked,
    { digest, kind, name = '' }: ShownToken,
    until: Date,
    given?: GivenToken,
  ): Promise<MadeToken | undefined> {
    const end = { ...rowOf(asked), id: randomUUID(), act: 'expire' as const, digest, name, kind, expires_at: until };
    return this.#issue(asked, { kind, name }, [end], given);
  }

  /** Requests that a token be revoked. Resolves with false if the form was sent before. */
  revoke(asked: Asked, { digest, kind }: ShownToken): Promise<boolean> {
    return this.#write(asked, [{ ...rowOf(asked), act: 'revoke', digest, kind }]);
  }

  /** Records the use of a token in the background, once a day. */
  noteUse(tokenId: string): void {
    const day = new Date().toISOString().slice(0, 10);
    if (this.#usedOn !== day) this.#used.clear();
    this.#usedOn = day;
    if (this.#used.has(tokenId)) return;
    this.#used.add(tokenId);
    const row = this.#db.insertInto('token_uses').values({ token_id: tokenId, used_on: day });
    const kept = row.onConflict((on) => on.column('token_id').doUpdateSet({ used_on: day })).execute();
    void kept.catch(() => this.#used.delete(tokenId));
  }

  async #issue(
    asked: Asked,
    { kind, name }: NewToken,
    others: readonly Row[],
    given?: GivenToken,
  ): Promise<MadeToken | undefined> {
    const { digest, lastFour, ...made } = given ?? newToken(kind);
    const holder = this.#tokens.authenticateDigest(digest);
    if (holder.status === 'known' && holder.organization !== asked.organization) {
      throw new RequestError('malformed-request', 'Another organization has this token: make a new one.');
    }
    const row = { ...rowOf(asked), act: 'issue' as const, digest, name, kind, last_four: lastFour };
    return (await this.#write(asked, [row, ...others])) ? { digest, ...made } : undefined;
  }

  async #write({ organization, proof }: Asked, rows: readonly Row[]): Promise<boolean> {
    const { public_key: key = null } = (await this.#keeper()) ?? {};
    if (key === null) throw unavailable(noKeeper);
    if ((await this.#waiting(organization)) >= mostWaiting) {
      const detail = `${mostWaiting} requests about tokens of this organization wait already: try again later.`;
      throw new RequestError('too-many-requests', detail);
    }
    const values = await Promise.all(rows.map(async (row) => ({ ...row, proof: await sealProof(key, row, proof) })));
    try {
      await serve(() => this.#db.insertInto('token_requests').values(values).execute());
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async #waiting(organization: string): Promise<number> {
    const open = this.#db
      .selectFrom('token_requests')
      .select('id')
      .where('organization', '=', organization)
      .where('done_at', 'is', null)
      .limit(mostWaiting);
    return (await serve(() => open.execute())).length;
  }

  async #usesOf(ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await serve(() =>
      this.#db
        .selectFrom('token_uses')
        .select(['token_id', sql<string>`to_char(used_on, 'YYYY-MM-DD')`.as('used_on')])
        .where('token_id', 'in', ids)
        .execute(),
    );
    return new Map(rows.map(({ token_id, used_on }) => [token_id, used_on]));
  }
}

type Ending = Pick<Selectable<Tables['token_requests']>, 'act' | 'expires_at' | 'done_at' | 'error'>;

/** True for a request that has put its token out of force. */
function endsToken({ act, expires_at, done_at, error }: Ending): boolean {
  const isDone = done_at !== null && error === null;
  return isDone && (act === 'revoke' || (act === 'expire' && expires_at !== null && expires_at <= new Date()));
}

function newToken(kind: Scope): GivenToken & { token: string } {
  const token = createToken(kind);
  return { digest: digestOf(token), lastFour: token.slice(-4), token };
}

const noKeeper = 'No controller that writes tokens is running.';

function rowOf({ organization, formId }: Asked) {
  return { id: formId, organization, name: '', expires_at: null };
}

function idOf(digest: string): string {
  return digest.slice(0, 12);
}

function serve<T>(query: () => Promise<T>): Promise<T> {
  return serveQuery('Requests about tokens cannot be read or written now.', query);
}
