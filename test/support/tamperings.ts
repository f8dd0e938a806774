import { sql } from 'kysely';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Database } from '../../internal/store/database.ts';
import { maintain } from '../../internal/store/maintain.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent } from './events.ts';
import { withLeaves } from './sealed-log.ts';

/** What somebody with all rights does to the database, and the sentence that finds it. */
interface Tampering {
  tamper: (db: Database) => Promise<unknown>;
  found: RegExp;
}

/** Tamperings by name, for a log of the first 280 of 300 events: 140 to 279, then 0 to 139. */
export function tamperings(events: readonly AcceptedEvent[]): Record<string, Tampering> {
  const [first, second] = [events[100]?.id ?? '', events[200]?.id ?? ''];
  return {
    'a row is changed': {
      tamper: (db) => sql`update events set description = 'x' where id = ${first}`.execute(db),
      found: new RegExp(`^Event ${first} is not the one that the log has: it was changed.\n$`),
    },
    'a row is removed': {
      tamper: (db) => sql`delete from events where id = ${first}`.execute(db),
      found: new RegExp(`^Event ${first} is in the log, and not in the record: it was removed.\n`),
    },
    'the last rows are removed': {
      tamper: (db) => sql`delete from events where id = ${events[279]?.id}`.execute(db),
      found: new RegExp(`^Event ${events[279]?.id} is in the log, and not in the record: it was removed.\n`),
    },
    'a row is added': {
      tamper: (db) =>
        sql`insert into events select organization, ${new Date(events[290]?.createdAt ?? 0)}, ${events[290]?.id}, automation_id,
          automation_as_sent, execution_id, kind, description, error_id, error_description, occurred_at
          from events where id = ${first}`.execute(db),
      found: new RegExp(`^Event ${events[290]?.id} is in the record, and not in the log: it was added.\n`),
    },
    'the texts of two rows are swapped': {
      tamper: (db) =>
        sql`update events e set description = o.description from events o
          where e.id in (${first}, ${second}) and o.id in (${first}, ${second}) and e.id <> o.id`.execute(db),
      found: new RegExp(`^Event ${first} is not .*\nEvent ${second} is not the one that the log has.*\n$`),
    },
    'the time of an event is no time': {
      tamper: (db) => sql`update events set occurred_at = 'infinity' where id = ${first}`.execute(db),
      found: new RegExp(`^Event ${first} is not the one that the log has: it was changed.\n`),
    },
    'a time of acceptance is changed': {
      tamper: (db) => sql`update events set created_at = created_at - interval '1 ms' where id = ${first}`.execute(db),
      found: new RegExp(`Event ${first} has another time of acceptance than its id: it was changed.\n`),
    },
    'an event has a time that is not of its id, and its leaf': {
      tamper: async (db) => {
        const { id } = anEvent({ createdAt: (events[279]?.createdAt ?? 0) + 1_000 });
        await recordEvents(db, [anEvent({ id, createdAt: (events[279]?.createdAt ?? 0) + 2_000 })], withLeaves);
      },
      found: /^Event \S+ has another time of acceptance than its id: it was changed.\n$/,
    },
    'a leaf is changed': {
      tamper: (db) =>
        sql`update log_tiles set content = set_byte(content, 48, get_byte(content, 48) # 1) where level = 0`.execute(
          db,
        ),
      found: /^The first 280 leaves of the log are not those that its checkpoint signed\.\nEvent .* is not the one/,
    },
    'a row and its leaf are changed': {
      tamper: async (db) => {
        await sql`update events set description = 'x' where id = ${events[0]?.id}`.execute(db);
        await sql`update log_tiles set content = set_byte(content, 48, get_byte(content, 48) # 1) where level = 0`.execute(
          db,
        );
      },
      found: /^The first 280 leaves of the log are not those/,
    },
    'the events of a tile are removed, and the tile is hidden': {
      tamper: async (db) => {
        const ids = [...events.slice(140, 280), ...events.slice(0, 116)].map(({ id }) => id);
        await sql`delete from events where id = any(${ids}::uuid[])`.execute(db);
        await sql`update log_tiles set first_id = null, last_id = null where level = 0`.execute(db);
      },
      found: /^(Event \S+ is in the log, and not in the record: it was removed\.\n){10}There are/,
    },
    'leaves are removed': {
      tamper: (db) => sql`delete from log_tails where organization = 'acme'`.execute(db),
      found: /^The log has 256 leaves, and a checkpoint of 280 leaves was signed\.\nEvent .* it was added/,
    },
    'a checkpoint is changed': {
      tamper: (db) => sql`update log_checkpoints set note = replace(note, '280', '279')`.execute(db),
      found: /^A checkpoint was changed after it was signed: the signature of log\.example\.org\/acme is wrong\.\n$/,
    },
    'a checkpoint is replaced by another text': {
      tamper: (db) => sql`update log_checkpoints set note = 'x'`.execute(db),
      found: /^A checkpoint was changed after it was signed: this is no signed note\.\n$/,
    },
    'the outcome of an execution is changed': {
      tamper: (db) => sql`update executions set error_count = 1 where execution_id = 'run 3'`.execute(db),
      found: /^Execution run 3 of automation \S+ has another outcome than its events give\.\n$/,
    },
    'an execution has an error of a day without events': {
      tamper: async (db) => {
        await maintain(db, { now: Date.now(), daysAhead: 1, retentionDays: 0 });
        await sql`update executions set error_count = 3, failed_at = '2000-01-01', first_event_at = '2000-01-01'
          where execution_id = 'run 3'`.execute(db);
      },
      found: /^Execution run 3 of automation \S+ has another outcome than its events give\.\n$/,
    },
    'the time of the last event of an execution is changed': {
      tamper: (db) => sql`update executions set last_event_at = now() where execution_id = 'run 3'`.execute(db),
      found: /^Execution run 3 of automation/,
    },
    'the state of an execution is changed, and computed no more': {
      tamper: async (db) => {
        await sql`alter table executions alter column state drop expression`.execute(db);
        await sql`update executions set state = 'failed' where execution_id = 'run 3'`.execute(db);
      },
      found: /^Execution run 3 of automation/,
    },
    'an event is there twice': {
      tamper: async (db) => {
        await sql`alter table events drop constraint events_pkey cascade`.execute(db);
        await sql`insert into events select * from events where id = ${first}`.execute(db);
      },
      found: new RegExp(`^Event ${first} is in the record twice: it was added.\n`),
    },
    'an event is added with a leaf outside of the tree': {
      tamper: async (db) => {
        const added = anEvent({ createdAt: events[290]?.createdAt ?? 0 });
        await recordEvents(db, [added], withLeaves);
        await sql`insert into log_tails select organization, 1000000000000, leaves from log_segments`.execute(db);
        await sql`delete from log_segments`.execute(db);
      },
      found: /^The log has 281 leaves, of which 280 have a place: others were added\.\n$/,
    },
    'a hash of the log is changed': {
      tamper: (db) =>
        sql`update log_tiles set content = set_byte(content, 1, get_byte(content, 1) # 1) where level = 1`.execute(db),
      found: /^The hashes that the log has are not those of its leaves: they were changed\.\n$/,
    },
    'an execution is removed': {
      tamper: (db) => sql`delete from executions where execution_id = 'run 3'`.execute(db),
      found: /^Execution run 3 of automation \S+ has events, and is not in the record: it was removed\.\n$/,
    },
  };
}
