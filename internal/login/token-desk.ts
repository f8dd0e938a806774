import { randomUUID } from 'node:crypto';
import { createToken } from '../cluster/tokens/manifest.ts';
import { digestOf, type Scope } from '../cluster/tokens/token-entry.ts';
import type { Database, Tables } from '../store/database.ts';
import { isDuplicate } from '../store/errors.ts';
import { sql, type Insertable } from '../store/sql.ts';
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
  idToken: string;
}

export interface NewToken {
  kind: Scope;
  name: string;
}

/** How long a finished or refused request is shown. */
const followedMs = 15_000;
const shownFor = sql<Date>`now() - interval '1 hour'`;

/**
 * Takes owners' requests about tokens. The console writes a request; a controller, which trusts
 * only the id token in it, acts on it. Secrets decide which tokens are valid, so the list comes
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
    const row = await serve(() =>
      this.#db
        .selectFrom('token_keeper')
        .select('problem')
        .where('until', '>', sql<Date>`now()`)
        .executeTakeFirst(),
    );
    if (row === undefined) return 'No controller that writes tokens is running.';
    return row.problem ?? undefined;
  }

  /** All valid tokens, and those requested within the last hour. */
  async list(organization: string): Promise<ShownToken[]> {
    const inForce = this.#tokens.tokensOf(organization);
    const [known, requests] = await serve(() =>
      Promise.all([
        this.#db.selectFrom('tokens').selectAll().where('organization', '=', organization).execute(),
        this.#db
          .selectFrom('token_requests')
          .select(['act', 'digest', 'name', 'kind', 'last_four', 'requested_at', 'done_at', 'error'])
          .where('organization', '=', organization)
          .where('requested_at', '>', shownFor)
          .orderBy('requested_at', 'desc')
          .execute(),
      ]),
    );
    const rows = new Map(known.map((row) => [row.digest, row]));
    const asked = Map.groupBy(requests, ({ digest }) => digest);
    const issued = requests.filter(({ act, digest }) => act === 'issue' && !inForce.has(digest));
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
   * Requests a token. Resolves with its clear text, which cannot be read again later; undefined if
   * the form was sent before.
   */
  issue(asked: Asked, token: NewToken): Promise<string | undefined> {
    return this.#issue(asked, token, []);
  }

  /**
   * Requests a token that replaces another one, which stays valid until a time. As {@link issue}.
   */
  rotate(asked: Asked, { digest, kind, name }: ShownToken, until: Date): Promise<string | undefined> {
    return this.#issue(asked, { kind, name: name ?? '' }, [
      { ...rowOf(asked), id: randomUUID(), act: 'expire', digest, name: name ?? '', kind, expires_at: until },
    ]);
  }

  /** Requests that a token be revoked. Resolves with false if the form was sent before. */
  revoke(asked: Asked, { digest, kind }: ShownToken): Promise<boolean> {
    return this.#write([{ ...rowOf(asked), act: 'revoke', digest, kind }]);
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
    others: readonly Insertable<Tables['token_requests']>[],
  ): Promise<string | undefined> {
    const token = createToken(kind);
    const row = {
      ...rowOf(asked),
      act: 'issue' as const,
      digest: digestOf(token),
      name,
      kind,
      last_four: token.slice(-4),
    };
    return (await this.#write([row, ...others])) ? token : undefined;
  }

  async #write(rows: Insertable<Tables['token_requests']>[]): Promise<boolean> {
    try {
      await serve(() => this.#db.insertInto('token_requests').values(rows).execute());
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
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

function rowOf({ organization, formId, idToken }: Asked) {
  return { id: formId, organization, id_token: idToken };
}

function idOf(digest: string): string {
  return digest.slice(0, 12);
}

function serve<T>(query: () => Promise<T>): Promise<T> {
  return serveQuery('Requests about tokens cannot be read or written now.', query);
}
