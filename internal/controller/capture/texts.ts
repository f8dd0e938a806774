import { storable } from '../../event/stored-text.ts';

/** Maximum lengths of texts, in characters: the defaults of ingest. */
const longest = { description: 10_000, errorId: 255, errorDescription: 10_000 };

/** Number of lines kept of a termination message. */
const lastLines = 20;

/** The texts of an event, without what Postgres cannot store. */
export function eventTexts({ description = '', errorId = '', errorDescription = '' }: Partial<EventTexts>): EventTexts {
  return {
    description: storable(description, longest.description),
    errorId: storable(errorId, longest.errorId),
    errorDescription: storable(errorDescription, longest.errorDescription),
  };
}

export interface EventTexts {
  readonly description: string;
  readonly errorId: string;
  readonly errorDescription: string;
}

/** The last lines of a termination message, which has at most 4 KiB. */
export function lastLinesOf(message: string): string {
  return message.slice(-4_096).trimEnd().split('\n').slice(-lastLines).join('\n');
}
