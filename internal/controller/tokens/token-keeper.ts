import { randomUUID } from 'node:crypto';
import { ProofKey } from '../../cluster/tokens/sealed-proof.ts';
import { digestOf, fingerprintOf } from '../../cluster/tokens/token-entry.ts';
import {
  expireToken,
  hasExpired,
  issueToken,
  removeExpired,
  revokeToken,
  type TokenWriter,
} from '../../cluster/tokens/token-writer.ts';
import { idAt } from '../../event/identity.ts';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { Act } from '../../ledger/act.ts';
import type { MacKey } from '../../ledger/mac.ts';
import type { Database, Tables } from '../../store/database.ts';
import { appendGivenAct } from '../../store/ledger/append-act.ts';
import { sql, type Kysely, type Selectable } from '../../store/sql.ts';
import type { TokenRequestsTable } from '../../store/tables/owners-tables.ts';

/**
 * Checks whether an id token proves an owner of an organization. Resolves with the owner's name, or
 * with one sentence on why not. Rejects if the provider cannot be asked.
 */
export type CheckOwner = (idToken: string, organization: string) => Promise<{ owner: string } | { refused: string }>;

/** The uses of tokens that wait to be stored: `TokenUses` of `internal/queue`. */
export interface WaitingUses {
  /** The day of the last use, by the id of the token. */
  read(): Promise<ReadonlyMap<string, string>>;
  forget(ids: readonly string[]): Promise<void>;
}

export interface TokenKeeperOptions {
  db: Database;
  /** The database with the log of an organization. */
  databaseOf: (organization: string) => Database;
  /** Writes to logs who issued and revoked tokens; undefined without a log. */
  actKey: MacKey | undefined;
  writer: TokenWriter;
  checkOwner: CheckOwner;
  uses: WaitingUses;
  logger: Logger;
}

/** Time between two looks for requests, and how long a controller's lease lasts, in ms. */
const [lookMs, turnMs] = [250, 10_000];

/** Time between two rounds of less urgent work, in ms: expired tokens, uses, old requests. */
const roundMs = 5_000;

type Request = Selectable<TokenRequestsTable>;

/**
 * Maximum number of requests per look, and of one organization: each may wait for the API server.
 */
const [most, mostOfOne] = [20, 4];

/**
 * The requests of a look, in turns of the organizations. Those of one token stay in their order;
 * one that could not be answered before lets the organization's others pass.
 */
const requestsOfLook = sql<Request>`
  select * from (
    select r.*, row_number() over (partition by organization order by error is not null, requested_at) as turn
    from token_requests r
    where done_at is null and not exists (
      select from token_requests e where e.done_at is null
        and (e.organization, e.digest) = (r.organization, r.digest) and e.requested_at < r.requested_at
    )
  ) as open
  where turn <= ${sql.lit(mostOfOne)} order by turn, requested_at limit ${sql.lit(most)}
`;

/** How long the rows of requests are kept. */
const kept = sql<Date>`now() - interval '1 day'`;

/**
 * Acts on owners' requests about tokens. It trusts no console: the id token of an owner or a manage
 * token, sealed in the request, must convince this process. Only the controller that holds the
 * lease acts.
 */
export class TokenKeeper {
  readonly name = 'token keeper';
  readonly #options: TokenKeeperOptions;
  readonly #holder = randomUUID();
  readonly #key = ProofKey.make();
  #turnEndsAt = 0;
  #roundAt = 0;
  readonly #looks = new Repeating(async () => {
    try {
      if (await this.#hasTurn()) await this.#look();
    } catch (error) {
      this.#options.logger.debug({ error }, 'requests about tokens cannot be read, retrying');
    }
    return lookMs;
  });

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  /** Releases the lease. */
  async stop(): Promise<void> {
    await this.#looks.stop();
    const end = { until: null, holder: null, public_key: null };
    const own = this.#options.db.updateTable('token_keeper').set(end).where('holder', '=', this.#holder);
    await own.execute().catch(() => undefined);
  }

  /**
   * Takes or renews the lease. Another controller can take it once it has expired by the clock of
   * Postgres.
   */
  async #hasTurn(): Promise<boolean> {
    const now = performance.now();
    if (now < this.#turnEndsAt - turnMs / 2) return true;
    const { db, writer } = this.#options;
    const until = sql<Date>`now() + ${turnMs} * interval '1 millisecond'`;
    const { numUpdatedRows } = await db
      .updateTable('token_keeper')
      .set({
        holder: this.#holder,
        until,
        problem: (await writer.problem()) ?? null,
        public_key: (await this.#key).publicKey,
      })
      .where((row) =>
        row.or([row('holder', '=', this.#holder), row('until', 'is', null), row('until', '<', sql<Date>`now()`)]),
      )
      .executeTakeFirst();
    // Counted from before the statement: after a slow answer, work waits for the next renewal.
    this.#turnEndsAt = numUpdatedRows > 0n ? now + turnMs : 0;
    return numUpdatedRows > 0n && performance.now() < this.#turnEndsAt - turnMs / 2;
  }

  async #look(): Promise<void> {
    const { db } = this.#options;
    for (const request of (await requestsOfLook.execute(db)).rows) await this.#answer(request);
    if (performance.now() < this.#roundAt) return;
    this.#roundAt = performance.now() + roundMs;
    await this.#expire();
    await this.#keepUses();
    await db.deleteFrom('token_requests').where('requested_at', '<', kept).execute();
  }

  /** Answers a request. One that cannot be answered now stays, with the reason. */
  async #answer(request: Request): Promise<void> {
    const { db, logger } = this.#options;
    const { id, organization, act, digest } = request;
    const row = db.updateTable('token_requests').where('id', '=', id);
    const end = (error: string | null) => row.set({ error, done_at: sql<Date>`now()`, proof: null }).execute();
    const about = { organization, act, token: digest.slice(0, 12) };
    try {
      const proof = await this.#proofOf(request);
      if ('refused' in proof) {
        logger.warn({ audit: true, ...about, reason: proof.refused }, 'request about a token refused');
        await end(proof.refused);
        return;
      }
      await this.#perform(request, proof.owner);
      logger.info({ audit: true, ...about, owner: proof.owner }, 'request about a token done');
      await end(null);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== request.error) logger.warn({ error, ...about }, 'request about a token waits');
      await row.set({ error: why }).execute();
    }
  }

  /** Who asks, by the proof in the request. */
  async #proofOf(request: Request): ReturnType<CheckOwner> {
    if (request.proof === null) return { refused: 'Nobody has signed this request.' };
    const proof = await (await this.#key).open(request.proof, request);
    if (proof === undefined) return { refused: 'The request is not sealed for this controller: ask again.' };
    if ('idToken' in proof) return this.#options.checkOwner(proof.idToken, request.organization);
    return this.#checkManageToken(proof.manageToken, request);
  }

  /** A manage token can make no other one: it would outlive its revocation. */
  async #checkManageToken(token: string, { organization, kind, digest }: Request): ReturnType<CheckOwner> {
    const tokens = await this.#options.writer.read(organization);
    const manage = tokens.filter((one) => one.scope === 'manage' && !hasExpired(one, new Date()));
    const own = digestOf(token);
    if (!manage.some((one) => one.digest === own)) return { refused: 'The manage token is not in force.' };
    if (kind === 'manage' || tokens.some((one) => one.scope === 'manage' && one.digest === digest)) {
      return { refused: 'Only an owner who has logged in makes, rotates and revokes manage tokens.' };
    }
    return { owner: `manage token ${fingerprintOf(own)}` };
  }

  async #perform(request: Request, owner: string): Promise<void> {
    const { writer } = this.#options;
    const { organization, act, digest, name, kind, last_four, expires_at } = request;
    const row = { organization, digest };
    if (act === 'issue') {
      // The row comes first: a valid token whose creator is unknown would be worse.
      const made = { ...row, name, kind, last_four, made_by: owner };
      await this.#keep(actOf(request, owner, 'token-issued', { scope: kind }), (trx) =>
        trx
          .insertInto('tokens')
          .values(made)
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      );
      await issueToken(writer, organization, { digest, scope: kind });
      return;
    }
    if (act === 'revoke') {
      await revokeToken(writer, organization, digest);
      await this.#keep(actOf(request, owner, 'token-revoked'), (trx) =>
        trx.deleteFrom('tokens').where('organization', '=', organization).where('digest', '=', digest).execute(),
      );
      return;
    }
    const at = expires_at ?? new Date();
    const scope = await expireToken(writer, organization, { digest, at });
    if (scope === undefined) return;
    if (at <= new Date()) this.#roundAt = 0;
    // A token applied with kubectl has no row yet.
    const values = { ...row, name, kind: scope, last_four: '', made_by: '', expires_at: at };
    await this.#keep(actOf(request, owner, 'token-expires', { scope, until: at.toISOString() }), (trx) =>
      trx
        .insertInto('tokens')
        .values(values)
        .onConflict((on) => on.columns(['organization', 'digest']).doUpdateSet({ expires_at: at }))
        .execute(),
    );
  }

  /** Changes the row of a token and writes the act to the log. A repetition writes it once. */
  async #keep(act: Act, change: (trx: Kysely<Tables>) => Promise<unknown>): Promise<void> {
    const { db, databaseOf, actKey } = this.#options;
    const home = databaseOf(act.organization);
    // No transaction spans two databases: if the second fails, the request is repeated.
    if (home !== db) await appendGivenAct(home, actKey, act);
    await db.transaction().execute(async (trx) => {
      if (home === db) await appendGivenAct(trx, actKey, act);
      await change(trx);
    });
  }

  /**
   * Removes expired tokens. The Secret says when a token expires; a row only says where to look.
   */
  async #expire(): Promise<void> {
    const { db, writer } = this.#options;
    const now = new Date();
    const due = await db
      .selectFrom('tokens')
      .select('organization')
      .distinct()
      .where('expires_at', '<=', now)
      .execute();
    for (const { organization } of due) {
      await removeExpired(writer, organization, now);
      const gone = db.deleteFrom('tokens').where('organization', '=', organization).where('expires_at', '<=', now);
      await gone.execute();
    }
  }

  async #keepUses(): Promise<void> {
    const { db, uses } = this.#options;
    const used = await uses.read();
    if (used.size === 0) return;
    const rows = Array.from(used, ([token_id, used_on]) => ({ token_id, used_on }));
    const insert = db.insertInto('token_uses').values(rows);
    const used_on = sql<string>`greatest(token_uses.used_on, excluded.used_on)`;
    await insert.onConflict((on) => on.column('token_id').doUpdateSet({ used_on })).execute();
    await uses.forget([...used.keys()]);
  }
}

/** The act of a request, with an id that is the same whenever the request is repeated. */
function actOf(
  { id, requested_at: at, organization, digest }: Request,
  owner: string,
  kind: Act['kind'],
  details: Act['details'] = {},
): Act {
  return {
    id: idAt(at.getTime(), id),
    organization,
    kind,
    at,
    by: owner,
    details: { ...details, token: digest.slice(0, 12) },
  };
}
