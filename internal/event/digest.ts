import { hash } from 'node:crypto';
import { createRandomSource } from '../kit/random-source.ts';
import type { AcceptedEvent } from './event.ts';
import { optionalFields, textsOf } from './fields.ts';
import { isoTime } from './iso-time.ts';

/** What proves an event: its salt, and the digest that its leaf holds. */
export interface Seal {
  /** 16 random bytes; null for an event without texts. */
  readonly salt: Buffer | null;
  /** In base64url, 43 characters. */
  readonly digest: string;
}

const saltSize = 16;
/** Characters of a salt and of a digest in base64url. */
const [saltLength, digestLength] = [22, 43];

/** The length of {@link sealText}. */
const sealLength = saltLength + digestLength;

/** The salt of an event without texts, in a text. */
const noSalt = 'A'.repeat(saltLength);

/** The seal of an event with a salt, by default a new one (ARCHITECTURE.md, "The log"). */
export function sealOf(event: AcceptedEvent, salt: Buffer | null = hasTexts(event) ? newSalt() : null): Seal {
  return { salt, digest: digestOf(event, salt) };
}

/** A seal as a text of {@link sealLength} characters, for a job. */
export function sealText({ salt, digest }: Seal): string {
  return (salt?.toString('base64url') ?? noSalt) + digest;
}

/** Reads {@link sealText}. A damaged one gives a seal of another event. */
export function readSeal(text: string): Seal {
  const salt = text.slice(0, saltLength);
  return { salt: salt === noSalt ? null : Buffer.from(salt, 'base64url'), digest: text.slice(saltLength) };
}

/** The seals of events, one after the other. */
export function joinSeals(events: readonly AcceptedEvent[]): string {
  return events.map((event) => event.seal ?? sealText(sealOf(event))).join('');
}

/** Gives the seal of an event by its place. @throws when they are not those of so many events. */
export function splitSeals(joined: string, events: number): (at: number) => string {
  if (joined.length !== events * sealLength) throw new Error(`${joined.length} characters are no ${events} seals`);
  return (at) => joined.slice(at * sealLength, (at + 1) * sealLength);
}

const randomSalt = createRandomSource(saltSize);

function hasTexts(event: AcceptedEvent): boolean {
  return textsOf(event).some((text) => text !== '');
}

/** A salt for the texts of an event. */
export function newSalt(): Buffer {
  return Buffer.from(randomSalt());
}

type Members = Record<string, string | undefined>;

/** The columns of an event in the order of canonical JSON; undefined where a row has no member. */
const metadata = membersOf([
  'organization',
  'created_at',
  'id',
  'automation_id',
  'automation_as_sent',
  'execution_id',
  'kind',
  'occurred_at',
]);
const texts = membersOf(optionalFields.map(({ column }) => column));

function membersOf(columns: readonly string[]): Members {
  return Object.fromEntries(columns.toSorted().map((column) => [column, undefined]));
}

/**
 * The digest that the leaf of an event holds: that of `eventDigest` in `internal/ledger`, in a
 * third of its CPU time.
 */
function digestOf(event: AcceptedEvent, salt: Buffer | null): string {
  const end = write(metadataOf(event), 0);
  // First, since it may give the room another buffer.
  const ofTexts = textsDigest(event, salt, end);
  bytes.write(ofTexts, end, 'latin1');
  return hash('sha256', bytes.subarray(0, end + 32), 'base64url');
}

/** The digest of no texts, as Latin-1. */
const noTextsDigest = hash('sha256', '{}', 'binary');

/** As Latin-1. Uses the room from `at` on. */
function textsDigest(event: AcceptedEvent, salt: Buffer | null, at: number): string {
  if (salt === null) return noTextsDigest;
  for (const { column, property } of optionalFields)
    texts[column] = event[property] === '' ? undefined : event[property];
  const end = write(JSON.stringify(texts), at + saltSize);
  bytes.set(salt, at);
  return hash('sha256', bytes.subarray(at, end), 'binary');
}

/** One object serves all events. */
function metadataOf(event: AcceptedEvent): string {
  const automationId = event.automationId.toLowerCase();
  metadata['organization'] = event.organization;
  metadata['created_at'] = isoTime(event.createdAt);
  metadata['id'] = event.id;
  metadata['automation_id'] = automationId;
  metadata['automation_as_sent'] = automationId === event.automationId ? undefined : event.automationId;
  metadata['execution_id'] = event.executionId;
  metadata['kind'] = event.kind;
  metadata['occurred_at'] = event.occurredAt === undefined ? undefined : isoTime(event.occurredAt);
  return JSON.stringify(metadata);
}

/** Room for what is hashed: a new buffer for each event costs more than the hash. */
let bytes = Buffer.alloc(4_096);

/** Writes a text at a place of the room, which keeps what is before; returns where it ends. */
function write(text: string, at: number): number {
  const most = at + text.length * 3 + 64;
  if (bytes.length < most) bytes = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(most)]);
  return at + bytes.write(text, at);
}
