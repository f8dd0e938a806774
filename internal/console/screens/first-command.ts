import { randomUUID } from 'node:crypto';
import type { Scope } from '../../login/token-desk.ts';
import type { Console } from '../visit.ts';

/** A token for a command: its kind, and its clear text or a shell expression that yields it. */
interface Given {
  kind: Scope;
  token: string;
}

/** The first curl command for a token of this kind, with the addresses of this installation. */
export function firstCommand(
  { ingestUrl, localFiles, site }: Console,
  { kind, token }: Given,
  automation: string = randomUUID(),
): string {
  const ingest = ingestUrl === undefined ? 'https://<host of ingest>' : ingestUrl.origin;
  const trust = localFiles === undefined ? [] : [`--cacert ${localFiles.certificate}`];
  if (kind === 'ping') return [`curl ${ingest}/ping/${token}/${automation}`, ...trust].join(' ');
  if (kind === 'read' || kind === 'manage') {
    const list = kind === 'read' ? 'executions/?limit=10' : 'tokens/';
    const address = `${site.publicUrl.origin}${site.base}/v1/${list}`;
    return [`curl '${address}'`, ...trust, `-H "token: ${token}"`].join(' \\\n  ');
  }
  return [
    `curl ${ingest}/v1/register/`,
    ...trust,
    `-H "token: ${token}"`,
    "-H 'Content-Type: application/json'",
    // A new id for each reader: a first event never lands in somebody else's automation.
    `-d '{"automation_id":"${automation}","execution_id":"run-1","event":"START"}'`,
  ].join(' \\\n  ');
}
