import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { textsDigestOf } from '../../internal/ledger/event-digest.ts';
import { writeAct } from '../../internal/ledger/act.ts';
import { Frontier } from '../../internal/ledger/frontier.ts';
import { leafHashText } from '../../internal/ledger/hashing.ts';
import { joinIds, leafOfErasure, type Erasure } from '../../internal/ledger/erasure.ts';
import { leafOf } from '../../internal/ledger/leaf.ts';
import { actKeyOf, macOf } from '../../internal/ledger/mac.ts';
import { packTile, unpackTile } from '../../internal/ledger/tiles.ts';
import { storedJson } from '../../internal/ledger/stored-json.ts';
import { expanded, keyOf } from '../../internal/store/compacted/expanded.ts';
import type { Database } from '../../internal/store/database.ts';
import { highestId } from '../../internal/record/audit/tile-ids.ts';
import { keepDeadLetter } from '../../internal/store/dead-letters.ts';
import { Acts, type OwnersAct } from '../../internal/store/acts/acts.ts';
import { recordActs } from '../../internal/store/acts/record-acts.ts';
import { appendAct } from '../../internal/store/ledger/append-act.ts';
import { eraseEvents } from '../../internal/store/erase/erase.ts';
import type { EventRow } from '../../internal/store/tables/events-table.ts';
import { maintain } from '../../internal/store/partitions/maintain.ts';
import { executionColumns } from '../../internal/store/record-events-statement.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { compactAll } from './compacted.ts';
import { anEvent } from './events.ts';
import { macKey, seal, withLeaves } from './sealed-ledger.ts';

/**
 * How somebody checks. `live`: `verify` with Postgres. `kept` and `state`: the same with
 * `--checkpoint` or `--state` of before. `export`: `verify --log --export`, with what the console
 * serves and exports afterwards. `exportState`: that with `--state`. `witness`: `verify --witness`,
 * of a witness that cosigned the checkpoint of before, and was asked to cosign the one of
 * afterwards.
 */
export const modes = ['live', 'kept', 'state', 'export', 'exportState', 'witness'] as const;
export type Mode = (typeof modes)[number];

/** What somebody with all rights does to the database, and the sentences that find it, by mode. */
export interface Tampering {
  /** What the owner of Postgres needs besides. */
  who?: string;
  tamper: (db: Database) => Promise<unknown>;
  /** `{id}` stands for an id, `{n}` for a number, `{…}` for anything else. */
  found: Partial<Record<Mode, readonly string[]>>;
}

const changed = 'Event {id} is not the one that the log has: it was changed.';
const removed = 'Event {id} is in the log, and not in the record: it was removed.';
const added = 'Event {id} is in the record, and not in the log: it was added.';
const notSigned = 'The first {n} leaves of the log are not those that its checkpoint signed.';
const notCosigned = 'The witness {…} has not cosigned the checkpoint.';
const fewer = 'The log has {n} leaves, and a checkpoint of {n} leaves was signed.';
const noLog = 'There is no log of {…}, and a checkpoint of {n} leaves was signed.';
const otherOutcome = 'Execution {id} of automation {id} has another outcome than its events give.';
const cut = 'A row of {…} has no whole leaves: it was changed.';
const refusedLeaf = 'The leaf of event {id} waits with a MAC that no worker made: it was added.';
const unknownErasure = 'The record of erasure {id} by {…} is not in the log: it was added.';

const anAct = {
  organization: 'acme',
  kind: 'retention-approved',
  by: 'ana',
  details: { before: '2026-11-20' },
} as const;

/** A sentence that fits one of `found`. */
export function patternOf(sentence: string): RegExp {
  const escaped = sentence.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  const filled = escaped.replaceAll('{id}', '[^\\n]+').replaceAll('{n}', '[\\d,]+').replaceAll('{…}', '[^\\n]+');
  return new RegExp(`^${filled}$`, 'm');
}

/** What only somebody with a memory of before finds. */
function byMemory(sentence: string): Tampering['found'] {
  return { kept: [sentence], state: [sentence], exportState: [sentence] };
}

/** Everywhere that an event is looked at. */
function everywhere(...sentences: string[]): Tampering['found'] {
  return { live: sentences, export: sentences };
}

/** Tamperings by name, for a log of the first 280 of 300 events: 140 to 279, then 0 to 139. */
export function tamperings(events: readonly AcceptedEvent[]): Record<string, Tampering> {
  const [first, second] = [events[100]?.id ?? '', events[200]?.id ?? ''];
  return {
    ...ofEvents(events, first, second),
    ...ofErasures(first, second),
    ...ofTheLog(events),
    ...ofExecutions(),
    ...ofCompacted(),
    ...ofTables(events),
  };
}

function ofTables(events: readonly AcceptedEvent[]): Record<string, Tampering> {
  const added = events[290]?.id;
  const columns = sql.raw(
    'organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at, ' +
      'start_count, event_count, warning_count, error_count, end_count, last_accepted_at',
  );
  return {
    'hides an added event from auditors by a policy': {
      tamper: (db) => sql`create policy hide on events as restrictive using (id <> ${sql.lit(added)})`.execute(db),
      found: { live: ['The table events has the policy {…}, which may hide rows from some users.'] },
    },
    'puts a view in place of the events, which shows auditors others': {
      tamper: async (db) => {
        await sql`alter table events rename to others`.execute(db);
        await sql`create view events as select * from others where current_user <> 'auditor' or id <> ${sql.lit(added)}`.execute(
          db,
        );
      },
      found: { live: ['The table events is no table: something else was put in its place.'] },
    },
    'lists an execution twice': {
      tamper: async (db) => {
        await sql`alter table executions drop constraint executions_pkey cascade`.execute(db);
        await sql`insert into executions (${columns}) select ${columns} from executions limit 1`.execute(db);
      },
      found: { live: ['The table executions has lost its primary key, so that rows may be in it twice.'] },
    },
    'lists an execution twice, by a wider primary key': {
      tamper: async (db) => {
        await sql`alter table executions drop constraint executions_pkey cascade`.execute(db);
        await sql`alter table executions add column copy integer not null default 0,
          add primary key (organization, automation_id, execution_id, copy)`.execute(db);
        await sql`insert into executions (${columns}, copy) select ${columns}, 1 from executions limit 1`.execute(db);
      },
      found: { live: ['The table executions has lost its primary key, so that rows may be in it twice.'] },
    },
    'adds rows to a table of the log by another table': {
      tamper: (db) => sql`create table more () inherits (log_acts)`.execute(db),
      found: { live: ['The table log_acts has rows of more, which is no part of it.'] },
    },
    'changes times by less than a millisecond': {
      tamper: async (db) => {
        await sql`alter table events alter occurred_at type timestamptz(6)`.execute(db);
        await sql`update events set occurred_at = occurred_at + interval '400 microseconds'`.execute(db);
      },
      found: { live: ['The table events.occurred_at has the type {…}, which hides changes.'] },
    },
  };
}

function ofEvents(events: readonly AcceptedEvent[], first: string, second: string): Record<string, Tampering> {
  const insert = (db: Database): Promise<unknown> =>
    sql`insert into events (organization, created_at, id, automation_id, automation_as_sent, execution_id, kind,
        description, error_id, error_description, occurred_at)
      select organization, ${new Date(events[290]?.createdAt ?? 0)}, ${events[290]?.id}, automation_id,
        automation_as_sent, execution_id, kind, description, error_id, error_description, occurred_at
        from events where id = ${first}`.execute(db);
  return {
    'changes the text of an event': {
      tamper: (db) => sql`update events set description = 'x' where id = ${first}`.execute(db),
      found: everywhere(changed),
    },
    'makes another kind of an event': {
      tamper: (db) => sql`update events set kind = 'WARNING' where id = ${first}`.execute(db),
      found: everywhere(changed),
    },
    'swaps the texts of two events': {
      tamper: (db) =>
        sql`update events e set description = o.description, salt = o.salt from events o
          where e.id in (${first}, ${second}) and o.id in (${first}, ${second}) and e.id <> o.id`.execute(db),
      found: everywhere(changed),
    },
    'swaps the ids of two events': {
      tamper: async (db) => {
        for (const [from, to] of [
          [first, highestId],
          [second, first],
          [highestId, second],
        ]) {
          await sql`update events set id = ${to} where id = ${from}`.execute(db);
        }
      },
      found: everywhere('Event {id} has another time of acceptance than its id: it was changed.'),
    },
    'copies an event to another day': {
      tamper: (db) =>
        sql`insert into events select (jsonb_populate_record(e, jsonb_build_object('created_at',
          created_at - interval '3 days'))).* from events e where id = ${first}`.execute(db),
      found: {
        live: [
          'Event {id} has another time of acceptance than its id: it was changed.',
          'Event {id} is in the record twice: it was added.',
        ],
      },
    },
    'gives an event a time that is no time': {
      tamper: (db) => sql`update events set occurred_at = 'infinity' where id = ${first}`.execute(db),
      found: { live: [changed] },
    },
    'changes when an event was accepted': {
      tamper: (db) => sql`update events set created_at = created_at - interval '1 ms' where id = ${first}`.execute(db),
      found: everywhere('Event {id} has another time of acceptance than its id: it was changed.'),
    },
    'removes an event': {
      tamper: (db) => sql`delete from events where id = ${first}`.execute(db),
      found: everywhere(removed),
    },
    'removes the last events': {
      tamper: (db) => sql`delete from events where id = ${events[279]?.id}`.execute(db),
      found: everywhere(removed),
    },
    'adds an event': { tamper: insert, found: { live: [added] } },
    'adds an event, and a leaf of it that waits for the sealer': {
      tamper: async (db) => {
        await insert(db);
        const row = await rowOf(db, events[290]?.id ?? '');
        await db
          .insertInto('log_segments')
          .values({ organization: 'acme', leaves: leafOf(row) })
          .execute();
        await seal(db);
      },
      found: { live: [added, refusedLeaf] },
    },
    'adds an event with its leaf at the end of the log, and computes the hashes': {
      tamper: async (db) => {
        await insert(db);
        await appendByHand(db, leafOf(await rowOf(db, events[290]?.id ?? '')));
        await seal(db);
        await recordEvents(db, events.slice(280, 285), withLeaves);
        await seal(db);
      },
      found: {
        live: [
          'The end of the log was changed without a key, and no checkpoint signs it. It ends with the leaves of {id}.',
        ],
      },
    },
    'adds the leaves of an event a second time': {
      tamper: async (db) => {
        await recordEvents(db, events.slice(280, 281), withLeaves);
        await sql`create temporary table saved as select organization, leaves, mac from log_segments`.execute(db);
        await seal(db);
        await sql`insert into log_segments (organization, leaves, mac) select * from saved`.execute(db);
        await seal(db);
      },
      found: everywhere('Event {id} has 2 leaves in the log.'),
    },
    'moves an event to another organization': {
      tamper: (db) => sql`update events set organization = 'globex' where id = ${first}`.execute(db),
      found: everywhere(removed),
    },
    'changes the salt of an event': {
      tamper: (db) => sql`update events set salt = substr(sha256(salt), 1, 16) where id = ${first}`.execute(db),
      found: everywhere(changed),
    },
    'copies an event under another id': {
      tamper: (db) =>
        sql`insert into events select (jsonb_populate_record(e, jsonb_build_object('id', ${events[290]?.id}::text,
          'created_at', ${new Date(events[290]?.createdAt ?? 0).toISOString()}::text))).* from events e
          where id = ${first}`.execute(db),
      found: { live: [added] },
    },
    'removes an event, and lists its day as one that only the archive has': {
      tamper: async (db) => {
        await sql`delete from events where id = ${first}`.execute(db);
        await sql`insert into cold_days (organization, day, object, rows, manifest_sha256)
          values ('acme', (now() at time zone 'UTC')::date, 'events.parquet', 1, repeat('0', 64))`.execute(db);
      },
      found: {
        live: ['The list of cold days has {…} of {…}, and the log has no such manifest: it was added.', removed],
      },
    },
    'changes each new event by a trigger': {
      tamper: async (db) => {
        await sql`create function change() returns trigger language plpgsql as
          $$ begin new.description := 'x'; return new; end $$`.execute(db);
        await sql`create trigger change before insert on events for each row execute function change()`.execute(db);
        await recordEvents(db, events.slice(280, 281), withLeaves);
        await seal(db);
      },
      found: everywhere(changed),
    },
    'copies an event': {
      tamper: async (db) => {
        await sql`alter table events drop constraint events_pkey cascade`.execute(db);
        await sql`insert into events select * from events where id = ${first}`.execute(db);
      },
      found: everywhere('Event {id} is in the record twice: it was added.'),
    },
    'records an event with a leaf and a time that is not that of its id': {
      who: 'with the key of a worker',
      tamper: async (db) => {
        const { id } = anEvent({ createdAt: (events[279]?.createdAt ?? 0) + 1_000 });
        await recordEvents(db, [anEvent({ id, createdAt: (events[279]?.createdAt ?? 0) + 2_000 })], withLeaves);
      },
      found: { live: ['Event {id} has another time of acceptance than its id: it was changed.'] },
    },
    'changes an event, and adds a byte to the leaves beside it': {
      tamper: async (db) => {
        await sql`update events set description = 'x' where id = ${first}`.execute(db);
        await sql`update log_tails set leaves = leaves || '\\x00' where organization = 'acme'`.execute(db);
      },
      found: { live: [changed, cut] },
    },
    'changes an event, and adds bytes that are no leaf to those that wait': {
      tamper: async (db) => {
        await sql`update events set description = 'x' where id = ${first}`.execute(db);
        await sql`insert into log_segments (organization, leaves) values ('acme', '\\x0102')`.execute(db);
      },
      found: { live: [changed, cut], export: [changed] },
    },
    'changes an event, and adds a checkpoint that another key signed': {
      tamper: async (db) => {
        await sql`update events set description = 'x' where id = ${first}`.execute(db);
        await sql`insert into log_checkpoints (organization, hour, size, root, note, signed_at)
          select organization, hour - interval '1 hour', size, root,
            regexp_replace(note, '(— \\S+) .*', E'\\\\1 AAAAAAAA'), signed_at from log_checkpoints
          where organization = 'acme'`.execute(db);
      },
      found: { live: [changed], export: [changed] },
    },
  };
}

function ofErasures(first: string, second: string): Record<string, Tampering> {
  const record = async (db: Database, erasure: Partial<Erasure>): Promise<Erasure> => {
    const { id, createdAt } = anEvent();
    const told = { organization: 'acme', erased_at: new Date(createdAt), erased_by: 'ana', reason: 'ticket 7' };
    const whole: Erasure = { ...told, id, scope: 'text', automation_id: null, event_ids: joinIds([first]), ...erasure };
    await db.insertInto('erasures').values(whole).execute();
    return whole;
  };
  const eraseTexts = async (db: Database): Promise<void> => {
    const request = {
      organization: 'acme',
      before: new Date(),
      text: 'mark 100',
      by: 'ana',
      reason: 'ticket 7',
      macKey,
    };
    for await (const erasure of eraseEvents(db, request, 100)) void erasure;
    await seal(db);
  };
  return {
    'rewrites an event, and records an erasure of its texts with leaves of both': {
      tamper: async (db) => {
        await sql`update events set kind = 'EVENT', description = 'Payment approved' where id = ${first}`.execute(db);
        const erasure = await record(db, {});
        const leaves = Buffer.concat([leafOf(await rowOf(db, first)), leafOfErasure(erasure)]);
        await db.insertInto('log_segments').values({ organization: 'acme', leaves }).execute();
        await seal(db);
      },
      found: { live: [changed, unknownErasure, refusedLeaf], export: [changed] },
    },
    'takes the texts of an event away, as an erasure does': {
      tamper: async (db) => {
        const row = await rowOf(db, first);
        const digest = textsDigestOf(storedJson(row).texts, row.salt);
        await sql`update events set description = '', salt = null, texts_digest = ${digest} where id = ${first}`.execute(
          db,
        );
      },
      found: everywhere('Event {id} has lost its texts, and no erasure in the log says so: they were removed.'),
    },
    'puts erased texts back': {
      tamper: async (db) => {
        const { description, salt } = await rowOf(db, first);
        await eraseTexts(db);
        await sql`update events set description = ${description}, salt = ${salt}, texts_digest = null
          where id = ${first}`.execute(db);
      },
      found: everywhere('Event {id} has texts that were erased: they were put back.'),
    },
    'puts another text where one was erased': {
      tamper: async (db) => {
        await eraseTexts(db);
        await sql`update events set description = 'Payment approved' where id = ${first}`.execute(db);
      },
      found: everywhere('Event {id} has texts that were erased: they were put back.'),
    },
    'records an erasure of events that are still there': {
      tamper: (db) => record(db, { scope: 'organization', event_ids: joinIds([first, second]) }),
      found: everywhere(unknownErasure),
    },
    'removes an event, and records that it was erased': {
      tamper: async (db) => {
        await sql`delete from events where id = ${first}`.execute(db);
        await record(db, { scope: 'organization' });
      },
      found: { live: [removed, unknownErasure], export: [removed] },
    },
    'records an erasure of an event that is still there, with its leaf and its MAC': {
      who: 'with the key of a worker',
      tamper: async (db) => {
        const erasure = await record(db, { scope: 'organization' });
        await appendSealed(db, leafOfErasure(erasure));
      },
      found: everywhere('Event {id} is in the record, although erasure {id} says that it is gone.'),
    },
    'changes who has erased data': {
      tamper: async (db) => {
        await eraseTexts(db);
        await sql`update erasures set erased_by = 'eve'`.execute(db);
      },
      found: everywhere('The record of erasure {id} by {…} is not the one that the log has.'),
    },
    'removes the record of an erasure': {
      tamper: async (db) => {
        await eraseTexts(db);
        await sql`delete from erasures`.execute(db);
      },
      found: { live: ['Erasure {id} is in the log, and its record is missing.'] },
    },
  };
}

function ofTheLog(events: readonly AcceptedEvent[]): Record<string, Tampering> {
  const flip = sql`update log_tiles set content = set_byte(content, 48, get_byte(content, 48) # 1) where level = 0`;
  return {
    'changes a leaf': {
      tamper: (db) => flip.execute(db),
      found: everywhere(notSigned, changed),
    },
    'changes an event and its leaf': {
      tamper: async (db) => {
        await sql`update events set description = 'x' where id = ${events[140]?.id}`.execute(db);
        const leaf = leafOf(await rowOf(db, events[140]?.id ?? ''));
        const { content } = await db
          .selectFrom('log_tiles')
          .select('content')
          .where('level', '=', 0)
          .executeTakeFirstOrThrow();
        const tile = unpackTile(content);
        leaf.copy(tile);
        await sql`update log_tiles set content = ${packTile(tile)} where organization = 'acme' and level = 0`.execute(
          db,
        );
      },
      found: everywhere(notSigned),
    },
    'removes leaves': {
      tamper: (db) => sql`delete from log_tails where organization = 'acme'`.execute(db),
      found: { live: [fewer, added], export: [fewer] },
    },
    'hides a tile of leaves, and removes its events': {
      tamper: async (db) => {
        const ids = [...events.slice(140, 280), ...events.slice(0, 116)].map(({ id }) => id);
        await sql`delete from events where id = any(${ids}::uuid[])`.execute(db);
        await sql`update log_tiles set first_id = null, last_id = null where level = 0`.execute(db);
      },
      found: {
        live: ['Tile {n} of the log has other ids than its row says: the row was changed.', removed],
        export: [removed],
      },
    },
    'changes which ids a tile of leaves says to have': {
      tamper: (db) => sql`update log_tiles set first_id = last_id where level = 0`.execute(db),
      found: { live: ['Tile {n} of the log has other ids than its row says: the row was changed.'] },
    },
    'changes a hash of the log': {
      tamper: (db) =>
        sql`update log_tiles set content = set_byte(content, 1, get_byte(content, 1) # 1) where level = 1`.execute(db),
      found: { live: ['The hashes that the log has are not those of its leaves: they were changed.'] },
    },
    'adds an event with a leaf outside of the tree': {
      tamper: async (db) => {
        const event = anEvent({ createdAt: events[290]?.createdAt ?? 0 });
        await recordEvents(db, [event], withLeaves);
        await sql`insert into log_tails select organization, 1000000000000, leaves from log_segments`.execute(db);
        await sql`delete from log_segments`.execute(db);
      },
      found: { live: ['The log has {n} leaves, of which {n} have a place: others were added.'] },
    },
    'changes a checkpoint': {
      tamper: (db) =>
        sql`update log_checkpoints set note = replace(note, '280', '279'),
          published_note = replace(published_note, '280', '279')`.execute(db),
      found: everywhere('A checkpoint was changed after it was signed: the signature of {…} is wrong.'),
    },
    'puts the checkpoint of another organization in place of its own': {
      tamper: (db) =>
        sql`update log_checkpoints c set note = o.note from log_checkpoints o
          where c.organization = 'acme' and o.organization = 'globex'`.execute(db),
      found: { live: ['A checkpoint was changed after it was signed: it is of another log.'] },
    },
    'changes which size a checkpoint is listed with': {
      tamper: (db) => sql`update log_checkpoints set size = size - 1`.execute(db),
      found: { live: ['The row of the checkpoint of {…} was changed.'] },
    },
    'removes the size and the hashes of the log': {
      tamper: (db) => sql`delete from log_trees where organization = 'acme'`.execute(db),
      found: { live: ['The log has lost its size and its hashes: they were removed.'] },
    },
    'puts another text in place of a checkpoint': {
      tamper: (db) => sql`update log_checkpoints set note = 'x'`.execute(db),
      found: { live: ['A checkpoint was changed after it was signed: this is no signed note.'] },
    },
    'removes the whole log': {
      tamper: async (db) => {
        for (const table of ['log_trees', 'log_tiles', 'log_tails', 'log_segments', 'log_checkpoints']) {
          await sql`delete from ${sql.table(table)}`.execute(db);
        }
      },
      found: { kept: [fewer], state: [fewer], exportState: [noLog] },
    },
    'removes a dead letter': {
      tamper: async (db) => {
        await keepDeadLetter(db, anEvent(), '22P02: x', macKey);
        await db.deleteFrom('dead_letters').execute();
      },
      found: { live: ['The dead letter of event {id} is gone, and no act says who deleted it.'] },
    },
    'removes a mute': {
      tamper: async (db) => {
        await actOf(db, aMute);
        await db.deleteFrom('acts').execute();
      },
      found: { live: ['The mute {id} of ana is gone, and no act says who ended it.'] },
    },
    'changes a dead letter': {
      tamper: async (db) => {
        await keepDeadLetter(db, anEvent(), '22P02: x', macKey);
        await seal(db);
        await sql`update dead_letters set reason = 'y'`.execute(db);
      },
      found: { live: ['The dead letter of event {id} is not the one that the log has: it was changed.'] },
    },
    'changes the window of a mute': {
      tamper: async (db) => {
        await actOf(db, { ...aMute, until: undefined, window });
        await sql`update acts set details = jsonb_set(details, '{window,duration}', '"9h"')`.execute(db);
      },
      found: { live: [changedRow] },
    },
    'changes when a mute ends': {
      tamper: async (db) => {
        await actOf(db, aMute);
        await sql`update acts set until_at = now()`.execute(db);
      },
      found: { live: [changedRow] },
    },
    'removes the end of a mute, so that it mutes again': {
      tamper: async (db) => {
        const mute = await actOf(db, aMute);
        await actOf(db, { kind: 'unmute', mute });
        await sql`delete from acts where kind = 'unmute'`.execute(db);
      },
      found: { live: ['The end of the mute {id} by ana is gone, so that it mutes again.'] },
    },
    'changes the note of an owner': {
      tamper: async (db) => {
        const { automationId } = anEvent();
        await actOf(db, { kind: 'note', automationId, executionId: 'run 3' });
        await sql`update acts set note = 'All is well'`.execute(db);
      },
      found: { live: [changedRow] },
    },
    'changes who has closed a run': {
      tamper: async (db) => {
        const { automationId } = anEvent();
        await actOf(db, { kind: 'close', as: 'ended', automationId, executionId: 'run 3' });
        await sql`update acts set made_by = 'eve'`.execute(db);
      },
      found: { live: [changedRow] },
    },
    'adds an act': {
      tamper: (db) => {
        const { id, createdAt } = anEvent({ createdAt: Date.now() - 2 * 3_600_000 });
        const act = writeAct({ ...anAct, id, at: new Date(createdAt) });
        return db.insertInto('log_acts').values({ organization: 'acme', id, act }).execute();
      },
      found: everywhere('The act {id} is not in the log: it was added.'),
    },
    'adds an act of an owner, for a worker to record': {
      tamper: async (db) => {
        const mute = {
          kind: 'mute',
          made_by: 'ana',
          note: 'x',
          until_at: new Date('2099-01-01'),
          details: '{}',
        } as const;
        await db
          .insertInto('acts')
          .values({ ...mute, organization: 'acme', id: randomUUID() })
          .execute();
        await recordActs(db, [macKey], (error) => {
          throw error;
        });
        await seal(db);
      },
      found: { live: ['The leaf of act {id} waits with a MAC that no worker made: it was added.'] },
    },
    'changes an act': {
      tamper: async (db) => {
        await appendAct(db, macKey, anAct);
        await seal(db);
        await sql`update log_acts set act = replace(act, 'ana', 'eve')`.execute(db);
      },
      found: everywhere('The act {id} is not the one that the log has.'),
    },
    'removes an act': {
      tamper: async (db) => {
        await appendAct(db, macKey, anAct);
        await seal(db);
        await sql`delete from log_acts`.execute(db);
      },
      found: everywhere('The act {id} is in the log, and its text is missing.'),
    },
    'rewrites the whole record, and signs it': {
      who: 'with the key of the log',
      tamper: async (db) => {
        await sql`truncate events, executions, running_executions, log_tiles, log_tails, log_trees, log_checkpoints`.execute(
          db,
        );
        await recordEvents(db, events.slice(10, 290), withLeaves);
        await seal(db);
      },
      found: { ...byMemory(notSigned), witness: [notCosigned] },
    },
    'restores an older state of the record, and signs it': {
      who: 'with the key of the log',
      tamper: async (db) => {
        await sql`truncate events, executions, running_executions, log_tiles, log_tails, log_trees, log_checkpoints`.execute(
          db,
        );
        await recordEvents(db, events.slice(0, 100), withLeaves);
        await seal(db);
      },
      found: { ...byMemory(fewer), witness: [notCosigned] },
    },
  };
}

function ofExecutions(): Record<string, Tampering> {
  return {
    'changes the outcome of an execution': {
      tamper: (db) => sql`update executions set error_count = 1 where execution_id = 'run 3'`.execute(db),
      found: { live: [otherOutcome] },
    },
    'records an error of an execution on a day without events': {
      tamper: async (db) => {
        await maintain(db, { now: Date.now(), daysAhead: 1, retentionDays: 0 });
        await sql`update executions set error_count = 3, failed_at = '2000-01-01', first_event_at = '2000-01-01'
          where execution_id = 'run 3'`.execute(db);
      },
      found: { live: [otherOutcome] },
    },
    'changes when the last event of an execution was': {
      tamper: (db) => sql`update executions set last_event_at = now() where execution_id = 'run 3'`.execute(db),
      found: { live: [otherOutcome] },
    },
    'changes the state of an execution, so that Postgres computes it no more': {
      tamper: async (db) => {
        await sql`alter table executions alter column state drop expression`.execute(db);
        await sql`update executions set state = 'failed' where execution_id = 'run 3'`.execute(db);
      },
      found: { live: [otherOutcome] },
    },
    'removes an execution': {
      tamper: (db) => sql`delete from executions where execution_id = 'run 3'`.execute(db),
      found: { live: ['Execution {id} of automation {id} has events, and is not in the record: it was removed.'] },
    },
    'hides executions that run': {
      tamper: (db) => sql`delete from running_executions`.execute(db),
      found: {
        live: [
          'Execution {id} of automation {id} runs, and the list of running executions differs: the list was changed.',
        ],
      },
    },
  };
}

const repeated = 'Execution {id} of automation {id} is in the record twice: it was added.';

function ofCompacted(): Record<string, Tampering> {
  /** Ends all runs but one, and makes two blocks of them. */
  const compact = async (db: Database): Promise<void> => {
    const ends = [0, 1, 2, 3, 4, 5].map((run) => anEvent({ executionId: `run ${run}`, kind: 'END' }));
    await recordEvents(db, ends, withLeaves);
    await seal(db);
    await compactAll(db);
  };
  const after = (change: (db: Database) => Promise<unknown>) => async (db: Database) => {
    await compact(db);
    await change(db);
  };
  return {
    'changes the counts of a compacted execution': {
      tamper: after((db) => sql`update compacted_executions set event_counts[1] = 7`.execute(db)),
      found: { live: [otherOutcome] },
    },
    'makes a compacted execution run': {
      tamper: after((db) => sql`update compacted_executions set end_counts[1] = 0, ended_before[1] = null`.execute(db)),
      found: {
        live: [
          otherOutcome,
          'Execution {id} of automation {id} runs, and the list of running executions differs: the list was changed.',
        ],
      },
    },
    'removes compacted executions': {
      tamper: after((db) => sql`delete from compacted_executions`.execute(db)),
      found: {
        live: [
          'Execution {id} of automation {id} has events, and is not in the record: it was removed.',
          'The keys of compacted executions name one in the block {id} that is not there: they were changed.',
        ],
      },
    },
    'hides a compacted execution from those who look for it': {
      tamper: after((db) =>
        sql`delete from compacted_keys where key = (select min(key) from compacted_keys)`.execute(db),
      ),
      found: { live: ['The keys of compacted executions lack execution {id} of automation {id}: they were changed.'] },
    },
    'lists a compacted execution once more': {
      tamper: after((db) =>
        sql`insert into executions (${executionColumns}) select ${executionColumns}
          from (${expanded(sql`select * from compacted_executions`)}) as e limit 1`.execute(db),
      ),
      found: { live: [repeated] },
    },
    'copies a block of executions': {
      tamper: after(async (db) => {
        await sql`insert into compacted_executions select (jsonb_populate_record(c, '{"id": 7}')).*
          from compacted_executions c where id = (select min(id) from compacted_executions)`.execute(db);
        await sql`insert into compacted_keys select 7, ${keyOf(sql`execution_id`)}, organization
          from (${expanded(sql`select * from compacted_executions where id = 7`)}) as e`.execute(db);
      }),
      found: { live: [repeated] },
    },
    'hides a block of executions from lists': {
      tamper: after((db) => sql`update compacted_executions set newest = '2000-01-01'`.execute(db)),
      found: {
        live: ['The block {id} of automation {id} has other executions than its row says: the row was changed.'],
      },
    },
    'has blocks of executions twice': {
      tamper: after(async (db) => {
        await sql`alter table compacted_executions drop constraint compacted_executions_pkey cascade`.execute(db);
        await sql`insert into compacted_executions select * from compacted_executions`.execute(db);
      }),
      found: {
        live: ['The table compacted_executions has lost its primary key, so that rows may be in it twice.', repeated],
      },
    },
  };
}

const aMute = { kind: 'mute', automationId: undefined, until: new Date('2099-01-01'), window: undefined } as const;
const window = { schedule: '0 3 * * *', timeZone: 'UTC', duration: '2h' };
const changedRow = 'The row {id} of ana ({…}) is not the one that the log has: it was changed.';

/** What an owner does, once it is in the log; resolves with the id of its row. */
async function actOf(db: Database, act: OwnersAct): Promise<string> {
  const id = randomUUID();
  await new Acts(() => db, [actKeyOf(macKey)]).add({ ...act, organization: 'acme', id, by: 'ana', note: 'Patches' });
  await recordActs(db, [macKey], (error) => {
    throw error;
  });
  await seal(db);
  return id;
}

/** Appends a leaf to the log as the sealer does, without a key. */
async function appendByHand(db: Database, leaf: Buffer): Promise<void> {
  const { size, frontier } = await db
    .selectFrom('log_trees')
    .selectAll()
    .where('organization', '=', 'acme')
    .executeTakeFirstOrThrow();
  const tree = new Frontier(Number(size), Buffer.from(frontier));
  tree.append(leafHashText(leaf));
  await db.insertInto('log_tails').values({ organization: 'acme', first_index: size, leaves: leaf }).execute();
  await sql`update log_trees set size = ${tree.size}, frontier = ${tree.bytes} where organization = 'acme'`.execute(db);
}

async function rowOf(db: Database, id: string): Promise<EventRow> {
  return db.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

async function appendSealed(db: Database, leaves: Buffer): Promise<void> {
  await db
    .insertInto('log_segments')
    .values({ organization: 'acme', leaves, mac: macOf(macKey, 'acme', leaves) })
    .execute();
  await seal(db);
}
