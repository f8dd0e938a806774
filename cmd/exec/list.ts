import type { Connection } from '../../internal/client/connection.ts';
import { reasonOf } from '../../internal/client/reason.ts';
import { relativeTime } from '../../internal/event/relative-time.ts';
import { connectTo, peer, readingOptions, refusal } from './reading.ts';
import { eventText, executionText, type EventItem, type ExecutionItem } from './show.ts';
import { parseOptions, UsageError } from './usage.ts';

const filterOptions = {
  ...readingOptions,
  automation: { type: 'string' },
  execution: { type: 'string' },
  'error-id': { type: 'string' },
  from: { type: 'string' },
  since: { type: 'string' },
  to: { type: 'string' },
  q: { type: 'string' },
  limit: { type: 'string', default: '20' },
} as const;

/** The parameter of the read API for each option. */
const parameters = {
  automation: 'automation',
  execution: 'execution_id',
  'error-id': 'error_id',
  q: 'q',
  state: 'state',
  kind: 'kind',
} as const;

/** The read API takes at most so many items a page. */
const pageSize = 100;

/** `runledger executions`. */
export async function listExecutions(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { ...filterOptions, state: { type: 'string' } });
  await list('/v1/executions/', values, (item) => executionText(item as ExecutionItem));
}

/** `runledger events`. */
export async function listEvents(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { ...filterOptions, kind: { type: 'string' } });
  await list('/v1/events/', values, (item) => eventText(item as EventItem));
}

type Values = Parameters<typeof connectTo>[0] & { readonly limit: string; readonly json: boolean } & Readonly<
    Partial<Record<keyof typeof parameters | 'from' | 'since' | 'to', string | undefined>>
  >;

async function list(path: string, values: Values, textOf: (item: unknown) => string): Promise<void> {
  const filters = new URLSearchParams();
  for (const [option, parameter] of Object.entries(parameters)) {
    const value = values[option as keyof typeof parameters];
    if (value !== undefined) filters.set(parameter, value);
  }
  const { from, since, to } = values;
  if (from !== undefined && since !== undefined)
    throw new UsageError('--since is the same as --from: give one of them');
  for (const [name, text] of [
    ['from', from ?? since],
    ['to', to],
  ] as const) {
    if (text !== undefined) filters.set(name, relativeTime(text, 'local')?.toISOString() ?? text);
  }
  let left = wholeNumber('--limit', values.limit);
  const connection = connectTo(values);
  try {
    let cursor: string | null = null;
    do {
      const page = await readPage(connection, path, filters, Math.min(left, pageSize), cursor);
      for (const item of page.items) process.stdout.write(`${values.json ? JSON.stringify(item) : textOf(item)}\n`);
      left -= page.items.length;
      cursor = page.next_cursor;
    } while (cursor !== null && left > 0);
  } finally {
    connection.close();
  }
}

/** A page of a list of the read API. */
export interface Page {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** Reads a page. Rejects with what the console refuses. */
export async function readPage(
  connection: Connection,
  path: string,
  filters: URLSearchParams,
  limit: number,
  cursor: string | null,
): Promise<Page> {
  const query = new URLSearchParams([...filters, ['limit', String(limit)]]);
  if (cursor !== null) query.set('cursor', cursor);
  const answer = await connection.send({ path: `${path}?${query.toString()}` }).catch((error: unknown) => {
    throw new Error(reasonOf(error, peer), { cause: error });
  });
  if (answer.status !== 200) throw refusal(answer);
  return JSON.parse(answer.body) as Page;
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`${option} must be a whole number above 0`);
}
