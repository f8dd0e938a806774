import { hash, randomBytes } from 'node:crypto';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { seal, unseal } from '../intake/http/sealed.ts';
import { serveQuery } from './serve-query.ts';
import { recentSeconds } from './viewer.ts';

/** A person who has logged in. */
export interface Identity {
  /** Issuer and subject of a person, or the name of a read token: for logs. */
  subject: string;
  name: string;
  /** The groups that lead to organizations. */
  groups: readonly string[];
  /** The read token of the login: the session ends with it. */
  tokenDigest: string | undefined;
  /** The one organization that a one-time link opens. */
  organization: string | undefined;
}

export interface SessionTimes {
  /** How long a session may be idle before it ends. */
  idleMs: number;
  /** How long a session may last after the login. */
  longestMs: number;
}

/** Writes the use of a session at most once a minute, not on each request. */
const noteEvery = sql<Date>`now() - interval '1 minute'`;

/**
 * The sessions, in Postgres. Only the browser has a session's id, 256 random bits; the table has
 * its digest. All times come from the clock of Postgres. Each operation throws a `RequestError`
 * when Postgres cannot serve it now.
 */
export class Sessions {
  readonly #db: Database;
  readonly #times: SessionTimes;

  constructor(db: Database, times: SessionTimes) {
    this.#db = db;
    this.#times = times;
  }

  /** Opens a session, with the id token of its login. Resolves with its id. */
  async open({ subject, name, groups, tokenDigest, organization }: Identity, idToken?: string): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    const session = {
      digest: digestOf(id),
      subject,
      name,
      groups: [...groups],
      token_digest: tokenDigest ?? null,
      organization: organization ?? null,
      id_token: idToken === undefined ? null : seal(keyOf(id), sealedFor, idToken),
      expires_at: sql<Date>`now() + ${this.#times.longestMs} * interval '1 millisecond'`,
    };
    await serve(() => this.#db.insertInto('sessions').values(session).execute());
    return id;
  }

  /** Finds a session that has not ended, and records its use. */
  async find(id: string): Promise<Identity | undefined> {
    const idleSince = sql<Date>`now() - ${this.#times.idleMs} * interval '1 millisecond'`;
    const row = await serve(() =>
      this.#db
        .selectFrom('sessions')
        .select(['subject', 'name', 'groups', 'token_digest', 'organization'])
        .select((is) => is('seen_at', '<', noteEvery).as('unnoted'))
        .where('digest', '=', digestOf(id))
        .where('expires_at', '>', sql<Date>`now()`)
        .where('seen_at', '>', idleSince)
        .executeTakeFirst(),
    );
    if (row === undefined) return undefined;
    if (row.unnoted === true) await this.#note(id);
    const { subject, name, groups, token_digest, organization } = row;
    return { subject, name, groups, tokenDigest: token_digest ?? undefined, organization: organization ?? undefined };
  }

  /** The id token of a session opened within the last hour. */
  async idTokenOf(id: string): Promise<string | undefined> {
    const row = await serve(() =>
      this.#db
        .selectFrom('sessions')
        .select('id_token')
        .where('digest', '=', digestOf(id))
        .where('created_at', '>', sql<Date>`now() - ${recentSeconds} * interval '1 second'`)
        .executeTakeFirst(),
    );
    const sealed = row?.id_token ?? undefined;
    return sealed === undefined ? undefined : unseal(keyOf(id), sealedFor, sealed);
  }

  async #note(id: string): Promise<void> {
    const note = { seen_at: sql<Date>`now()` };
    await serve(() => this.#db.updateTable('sessions').set(note).where('digest', '=', digestOf(id)).execute());
  }

  /** Ends a session. Resolves with false if there is none. */
  async close(id: string): Promise<boolean> {
    const session = this.#db.deleteFrom('sessions').where('digest', '=', digestOf(id));
    const { numDeletedRows } = await serve(() => session.executeTakeFirst());
    return numDeletedRows > 0n;
  }

  /** Ends all sessions of a subject. */
  async closeAllOf(subject: string): Promise<void> {
    await serve(() => this.#db.deleteFrom('sessions').where('subject', '=', subject).execute());
  }
}

const sealedFor = 'id token';

/** Derives a key from the id, which only the browser has: a copy of the table stays unreadable. */
function keyOf(id: string): Buffer {
  return hash('sha256', `id token ${id}`, 'buffer');
}

function digestOf(id: string): Buffer {
  return hash('sha256', id, 'buffer');
}

function serve<T>(query: () => Promise<T>): Promise<T> {
  return serveQuery('Sessions cannot be read or written now.', query);
}
