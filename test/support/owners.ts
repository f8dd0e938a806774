import { setTimeout as sleep } from 'node:timers/promises';
import { FileTokenWriter } from '../../internal/cluster/tokens/file-token-writer.ts';
import { sealProof, type Proof } from '../../internal/cluster/tokens/sealed-proof.ts';
import { digestOf, type Scope } from '../../internal/cluster/tokens/token-entry.ts';
import type { TokenWriter } from '../../internal/cluster/tokens/token-writer.ts';
import { TokenKeeper, type WaitingUses } from '../../internal/controller/tokens/token-keeper.ts';
import { OrganizationMap } from '../../internal/login/organization-map.ts';
import type { MacKey } from '../../internal/ledger/mac.ts';
import { createOwnerCheck } from '../../internal/login/owner-check.ts';
import type { Answer, Request } from './api-client.ts';
import type { Browser } from './browser.ts';
import type { SuiteLogin } from './login.ts';
import type { OidcProvider } from './oidc-provider.ts';
import { recordingLogger, type LogRecord } from './recording-logger.ts';
import { until } from './until.ts';

/** Who may do what in the tests of owners. */
export const roles = {
  'acme-owners': { organization: 'acme', role: 'owner' },
  'globex-owners': { organization: 'globex', role: 'owner' },
  staff: ['acme', 'globex'],
  platform: { organization: '*', role: 'owner' },
};

export const olga = { sub: 'olga', name: 'Olga', groups: ['acme-owners'] };
export const rita = { sub: 'rita', name: 'Rita', groups: ['staff'] };
export const gus = { sub: 'gus', name: 'Gus', groups: ['globex-owners'] };

const noUses: WaitingUses = { read: () => Promise.resolve(new Map()), forget: () => Promise.resolve() };

/** The part of a controller that acts on the requests of owners. */
export interface RunningKeeper extends AsyncDisposable {
  records: readonly LogRecord[];
}

/** It believes the provider, and writes the file of the suite's tokens. */
export async function startKeeper(
  { database, tokens }: Pick<SuiteLogin, 'database'> & Partial<Pick<SuiteLogin, 'tokens'>>,
  provider: OidcProvider | { issuer: string },
  writer: TokenWriter = new FileTokenWriter(tokens?.path ?? ''),
  actKey?: MacKey,
): Promise<RunningKeeper> {
  const { logger, records } = recordingLogger();
  const oidc = { issuer: new URL(provider.issuer), clientId: 'runledger', scopes: '', groupsClaim: 'groups' };
  const organizations = OrganizationMap.parse(JSON.stringify(roles));
  const checkOwner = createOwnerCheck({ ...oidc, organizations });
  const [{ db }, uses] = [database, noUses];
  const keeper = new TokenKeeper({ db, databaseOf: () => db, actKey, writer, checkOwner, uses, logger });
  await keeper.start();
  return { records, [Symbol.asyncDispose]: () => keeper.stop() };
}

/** Sends a request to the API with the manage token of `acme`. */
export function manage(
  { console }: Pick<SuiteLogin, 'console'>,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  content?: unknown,
  headers: Request['headers'] = {},
): Promise<Answer> {
  const token = { token: 'manage-token-of-acme' };
  if (content === undefined) return console.client.send({ method, path, headers: { ...token, ...headers } });
  const body = typeof content === 'string' ? content : JSON.stringify(content);
  const length = String(Buffer.byteLength(body));
  const own = { ...token, 'content-type': 'application/json', 'content-length': length, ...headers };
  return console.client.send({ method, path, headers: own, body });
}

/** The fields of a form of a page, by the path that it is sent to. */
export async function formOf(browser: Browser, path: string, action = path): Promise<Record<string, string>> {
  const { status, body } = await browser.get(path, { accept: 'text/html' });
  const form = new RegExp(`<form[^>]* action="${action}"[^>]*>(.*?)</form>`, 's').exec(body)?.[1];
  if (form === undefined) throw new Error(`${status} ${path} has no form for ${action}: ${body}`);
  const hidden = form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries(Array.from(hidden, ([, name = '', value = '']) => [name, value]));
}

/** The token that a page shows once. */
export function shownToken({ body }: Answer): string {
  return /<pre data-token>([^<]+)</.exec(body)?.[1] ?? '';
}

/** The public key of the controller that acts on requests. */
export async function keyOf({ database }: Pick<SuiteLogin, 'database'>): Promise<string> {
  const row = database.db.selectFrom('token_keeper').select('public_key');
  const read = async (): Promise<string> => (await row.executeTakeFirst())?.public_key ?? '';
  await until('a key', async () => (await read()) !== '');
  return read();
}

/** A request for a token of an organization, as a console that was taken over could write it. */
export async function sealedRequest(
  key: string,
  name: string,
  proof: Proof,
  {
    act = 'issue',
    kind = 'write',
    digest,
    organization = 'acme',
  }: { act?: 'issue' | 'revoke'; kind?: Scope; digest?: string; organization?: string } = {},
) {
  const id = crypto.randomUUID();
  const request = { id, organization, act, digest: digest ?? digestOf(`a token: ${id}`), kind };
  const row = { ...request, name, expires_at: null };
  return { ...row, proof: await sealProof(key, row, proof) };
}

/** Resolves when the requests of owners are answered. */
export async function answered({ database, tokens }: SuiteLogin): Promise<void> {
  const open = database.db.selectFrom('token_requests').select('id').where('done_at', 'is', null);
  await until('answers', async () => (await open.execute()).length === 0);
  // Two changes within one tick of the file system's clock would look like one.
  await sleep(5);
  await tokens.source.refresh();
}
