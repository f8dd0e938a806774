import { randomUUID } from 'node:crypto';
import type { Scope } from '../../login/token-desk.ts';
import type { Console } from '../visit.ts';

/** A token for a command: its kind, and its clear text or what a shell puts in its place. */
interface Given {
  kind: Scope;
  token: string;
}

/** The first curl with a token of a kind, with the addresses of this Runledger. */
export function firstCommand(
  { ingestUrl, localFiles, site }: Console,
  { kind, token }: Given,
  automation: string = randomUUID(),
): string {
  const ingest = ingestUrl === undefined ? 'https://<host of ingest>' : ingestUrl.origin;
  const trust = localFiles === undefined ? [] : [`--cacert ${localFiles.certificate}`];
  if (kind === 'ping') return [`curl ${ingest}/ping/${token}/${automation}`, ...trust].join(' ');
  if (kind === 'read') {
    const address = `${site.publicUrl.origin}${site.base}/v1/executions/?limit=10`;
    return [`curl '${address}'`, ...trust, `-H "token: ${token}"`].join(' \\\n  ');
  }
  return [
    `curl ${ingest}/v1/register/`,
    ...trust,
    `-H "token: ${token}"`,
    "-H 'Content-Type: application/json'",
    // An id of its own for each reader: nobody's first event goes into a stranger's automation.
    `-d '{"automation_id":"${automation}","execution_id":"run-1","event":"START"}'`,
  ].join(' \\\n  ');
}
