import nodemailer, { type SendMailOptions } from 'nodemailer';
import { html, type Html } from '../../kit/html/html.ts';
import type { ToldItem, ToldMessage } from './told-message.ts';

/** The mail server of the installation. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with a user and a password if it needs them. */
  url: URL;
  /** The sender. */
  from: string;
  /** Certificates to trust instead of the system's, PEM. */
  ca?: string | undefined;
}

/** A mail to send. */
export interface Mail {
  /** The same for each attempt. */
  id: string;
  to: readonly string[];
  message: ToldMessage;
  timeoutMs: number;
}

/** The answer of a mail server, and the recipients that it refuses. */
export interface MailAnswer {
  refused: readonly string[];
}

/**
 * Sends a mail over a connection of its own. Credentials are sent over TLS only. Rejects with the
 * error of nodemailer, which has the server's answer.
 */
export async function sendMail({ url, from, ca }: MailServer, mail: Mail): Promise<MailAnswer> {
  // Each of the three waits is bounded, so that the attempt ends before its claim does.
  const wait = mail.timeoutMs / 2;
  const transport = nodemailer.createTransport({
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    ...(url.port !== '' && { port: Number(url.port) }),
    secure: url.protocol === 'smtps:',
    requireTLS: url.username !== '',
    ...(url.username !== '' && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    ...(ca !== undefined && { tls: { ca } }),
    connectionTimeout: wait,
    greetingTimeout: wait,
    socketTimeout: wait,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`no answer within ${mail.timeoutMs} ms`));
    transport.close();
  }, mail.timeoutMs);
  try {
    const { rejectedErrors = [] } = await Promise.race([transport.sendMail(mailOf(mail, from)), late.promise]);
    return { refused: rejectedErrors.map(({ message }) => message) };
  } finally {
    clearTimeout(timer);
    transport.close();
  }
}

/**
 * Mails about an alert share a thread: the first has an id made of the alert's, and all refer to
 * it. Nothing needs to be remembered for that.
 */
export function mailOf({ id, to, message }: Omit<Mail, 'timeoutMs'>, from: string): SendMailOptions {
  const domain =
    from
      .split('@')
      .at(-1)
      ?.replace(/[>\s].*$/, '') ?? 'runledger.invalid';
  const thread = (alertId: string): string => `<alert-${alertId}@${domain}>`;
  const [first] = message.items;
  const isFirst = first?.alert !== undefined && !first.isGood;
  const threads = message.items.flatMap(({ alert }) => (alert === undefined ? [] : [thread(alert.id)]));
  const messageId = isFirst && threads[0] !== undefined ? threads[0] : `<${id}@${domain}>`;
  const references = threads.filter((each) => each !== messageId);
  const [root] = references;
  // Some programs build threads of equal subjects only.
  const begun = message.items.length === 1 && !isFirst ? first?.alert?.title : undefined;
  const subject = `${begun === undefined ? '' : 'Re: '}[${message.organization}] ${begun ?? message.title}`;
  return {
    from,
    to: [...to],
    subject,
    messageId,
    ...(references.length > 0 && { references }),
    ...(!isFirst && root !== undefined && { inReplyTo: root }),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    list: { unsubscribe: [[...unsubscribeLinks(message, from)]] },
    text: textOf(message),
    html: htmlOf(message).toString(),
  };
}

/** The page where owners change the channels, and the sender for people without a login. */
function unsubscribeLinks({ link, organization }: ToldMessage, from: string): string[] {
  const page = URL.canParse(link)
    ? link.replace(/\/o\/.*$/, `/o/${encodeURIComponent(organization)}/settings/channels`)
    : '';
  const address = /<([^>]+)>/.exec(from)?.[1] ?? from;
  return [...(page === '' ? [] : [page]), `mailto:${address}?subject=unsubscribe`];
}

function textOf({ title, items, more, link }: ToldMessage): string {
  const parts = items.map((item) =>
    [
      ...(item.title === title ? [] : [item.title]),
      item.sentence,
      ...(item.error === '' ? [] : [item.error.replaceAll(/^/gm, '    ')]),
      item.link,
    ].join('\n'),
  );
  return [title, ...parts, ...(more > 0 ? [`And ${more} more: ${link}`] : [])].join('\n\n');
}

function htmlOf({ title, isGood, items, more, link }: ToldMessage): Html {
  const part = (item: ToldItem): Html =>
    html`<p>
        ${item.title !== title && html`<strong>${item.title}</strong><br />`} ${item.sentence}<br />
        <a href="${item.link}">${item.link}</a>
      </p>
      ${item.error !== '' && html`<pre style="background:#f4f4f5;padding:8px;white-space:pre-wrap">${item.error}</pre>`}`;
  return html`<!doctype html>
    <html lang="en">
      <body style="font:15px/1.5 system-ui,sans-serif;color:#1b1b1f">
        <h1 style="font-size:18px;color:${isGood ? '#1a7f37' : '#b42318'}">${title}</h1>
        ${items.map(part)} ${more > 0 && html`<p>And ${String(more)} more: <a href="${link}">${link}</a></p>`}
      </body>
    </html>`;
}
