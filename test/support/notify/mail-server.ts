import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { MailServer } from '../../../internal/controller/notify/mail.ts';
import { createKeyPair, type Place } from '../certificate.ts';

/** A mail that a server got. */
export interface ReceivedMail {
  to: string[];
  user: string | undefined;
  isSecure: boolean;
  /** Unfolded, by their names in lower case. */
  headers: Map<string, string>;
  /** The parts: type → text. */
  parts: Map<string, string>;
}

export interface TestMailServer extends AsyncDisposable {
  readonly settings: MailServer;
  readonly port: number;
  readonly mails: ReceivedMail[];
}

/** A mail server with TLS, which takes mails from `runledger` with the password `secret`. */
export async function startMailServer(
  options: SMTPServerOptions = {},
  place: Partial<Place> = {},
): Promise<TestMailServer> {
  const { cert, key } = place.pair ?? (await createKeyPair('mail.test'));
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    cert,
    key,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'runledger' && password === 'secret') done(null, { user: username });
      else done(new Error('Invalid username or password'));
    },
    onData: (stream, session, done) => {
      let text = '';
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, user: session.user, isSecure: session.secure, ...parsed(text) });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  const listening = server.listen(place.port ?? 0, place.host ?? '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const scheme = options.secure === true ? 'smtps' : 'smtp';
  const url = new URL(`${scheme}://runledger:secret@localhost:${port}`);
  return {
    settings: { url, from: 'Runledger <runledger@example.com>', ca: cert },
    port,
    mails,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parsed(text: string): Pick<ReceivedMail, 'headers' | 'parts'> {
  const { headers, body } = split(text);
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1] ?? '';
  const parts = new Map<string, string>();
  for (const piece of body.split(`--${boundary}`).slice(1, -1)) {
    const part = split(piece.replace(/^\r\n/, ''));
    const type = part.headers.get('content-type')?.split(';')[0] ?? '';
    parts.set(type, decoded(part.body, part.headers.get('content-transfer-encoding')));
  }
  return { headers, parts };
}

function split(text: string): { headers: Map<string, string>; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const lines = text
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  return { headers: new Map(pairs), body: text.slice(end + 4) };
}

function decoded(text: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString();
  if (encoding !== 'quoted-printable') return text;
  const bytes = text.replaceAll(/=\r\n/g, '').replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(bytes, 'latin1').toString();
}
