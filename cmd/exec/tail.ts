import { text } from 'node:stream/consumers';
import type { Connection } from '../../internal/client/connection.ts';
import { reasonOf } from '../../internal/client/reason.ts';
import { readPage } from './list.ts';
import { connectTo, peer, readingOptions, refusal } from './reading.ts';
import { eventText, type EventItem } from './show.ts';
import { parseOptions, UsageError, uuidForm } from './usage.ts';

/** Pause before the stream is opened again, in ms. */
const reconnectPause = 1_000;

interface Filter {
  readonly automation?: string | undefined;
  readonly kind?: string | undefined;
}

const kinds = ['START', 'EVENT', 'WARNING', 'ERROR', 'END'];

/** `runledger tail`: prints events as they are stored, until a signal. It resumes after a cut. */
export async function tail(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { ...readingOptions, automation: { type: 'string' }, kind: { type: 'string' } });
  requirePossible(values);
  const connection = connectTo(values);
  const automation = await automationOf(connection, values.automation);
  const filter = { automation, kind: values.kind };
  const print = (item: EventItem): void => {
    if (isWanted(item, filter)) process.stdout.write(`${values.json ? JSON.stringify(item) : eventText(item)}\n`);
  };
  let last: string | undefined;
  let hasStarted = false;
  for (;;) {
    try {
      const before = last;
      for await (const message of follow(connection, last, () => (hasStarted = true))) {
        last = message.id ?? last;
        if (message.event === 'event') print(JSON.parse(message.data) as EventItem);
        if (message.event === 'omitted') process.stderr.write('runledger: events were left out: too many at once\n');
      }
      if (before === last) await pause();
    } catch (error) {
      if (error instanceof Refused) throw error.reason;
      if (!hasStarted) throw new Error(reasonOf(error, peer), { cause: error });
      await pause();
    }
  }
}

/** A wrong filter would wait for ever. @throws {UsageError} that names it. */
function requirePossible({ kind }: Filter): void {
  if (kind === undefined || kinds.includes(kind)) return;
  throw new UsageError(`--kind must be one of ${kinds.join(', ')}`);
}

/** The id of the automation with an id or a name. Rejects when the console cannot tell which. */
async function automationOf(connection: Connection, given: string | undefined): Promise<string | undefined> {
  if (given === undefined || uuidForm.test(given)) return given;
  const query = new URLSearchParams({ automation: given });
  const { items } = await readPage(connection, '/v1/automations/', query, 1, null);
  return (items[0] as { automation: string } | undefined)?.automation;
}

class Refused extends Error {
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

/** A message of Server-Sent Events. */
interface Message {
  event: string;
  data: string;
  id?: string;
}

async function* follow(connection: Connection, last: string | undefined, onOpen: () => void): AsyncGenerator<Message> {
  const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) };
  const response = await connection.open({ path: '/v1/stream/', headers });
  const status = response.statusCode ?? 0;
  // A console that starts or is busy answers later.
  if (status === 429 || status >= 500) throw new Error(`the console answers ${status}`);
  if (status !== 200) throw new Refused(refusal({ status, headers: response.headers, body: await text(response) }));
  onOpen();
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const blocks = (rest + String(chunk)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield messageIn(block);
  }
}

function messageIn(block: string): Message {
  const message: Message = { event: '', data: '' };
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(event|data|id): ?(.*)$/.exec(line) ?? [];
    if (field === 'event' || field === 'data' || field === 'id') message[field] = value;
  }
  return message;
}

function isWanted({ automation, type_of_event: kind }: EventItem, filter: Filter): boolean {
  const { automation: wanted = automation, kind: wantedKind = kind } = filter;
  return automation.toLowerCase() === wanted.toLowerCase() && kind === wantedKind;
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, reconnectPause);
  });
}
