import type { ChannelType } from '../../expectation/read-channel.ts';
import { html } from '../../kit/html/html.ts';
import type { ToldItem, ToldMessage } from './told-message.ts';

export type ChatType = Exclude<ChannelType, 'webhook' | 'email'>;

/** A request that posts a message to a chat. */
export interface ChatRequest {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** How a chat takes a message, and the size at which it refuses one. */
interface ChatFormat {
  make: (message: ToldMessage, url: URL, id: string) => { url?: URL; content: object };
  fits: (body: string) => boolean;
}

const bytes = (most: number) => (body: string) => Buffer.byteLength(body) <= most;
const characters = (most: number) => (body: string) => body.length <= most;

/** Each vendor's page on its format and limits is linked in docs/design/notifications.md. */
const formats: Record<ChatType, ChatFormat> = {
  slack: { make: (message) => ({ content: slack(message) }), fits: characters(12_000) },
  teams: { make: (message) => ({ content: teams(message) }), fits: bytes(28_000) },
  googlechat: { make: googleChat, fits: bytes(32_000) },
  discord: { make: (message) => ({ content: discord(message) }), fits: characters(5_000) },
  ntfy: { make: ntfy, fits: bytes(4_000) },
};

/** Longest texts of an item, in characters. */
const longest = { title: 250, sentence: 500, error: 600 };

/**
 * Writes a message in the format of a chat. One that would be too large names fewer items and
 * counts the others.
 * @param id the same for each attempt, for chats that drop repetitions.
 */
export function chatRequest(
  type: ChatType,
  message: ToldMessage,
  { url, token, id }: { url: URL; token?: string | undefined; id: string },
): ChatRequest {
  const { make, fits } = formats[type];
  for (let count = message.items.length; ; count -= 1) {
    const items = message.items.slice(0, count).map(shortened);
    const more = message.more + message.items.length - count;
    const made = make({ ...message, title: cut(message.title, longest.title), items, more }, url, id);
    const body = JSON.stringify(made.content);
    if (!fits(body) && count > 0) continue;
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    return { url: made.url ?? url, headers, body };
  }
}

function shortened(item: ToldItem): ToldItem {
  const { title, sentence, error } = item;
  return {
    ...item,
    title: cut(title, longest.title),
    sentence: cut(sentence, longest.sentence),
    error: cut(error, longest.error),
  };
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;
}

function moreOf({ more }: ToldMessage): string[] {
  return more > 0 ? [`And ${more} more.`] : [];
}

/** True if an item would only repeat the title of the message. */
function isTitle({ title }: ToldItem, message: ToldMessage): boolean {
  return title === message.title;
}

/** An address for a button; chats refuse one that is not absolute. */
function linkOf(link: string): string | undefined {
  return /^https?:\/\//.test(link) ? link : undefined;
}

/** Block Kit. */
function slack(message: ToldMessage): object {
  const section = (text: string): object => ({ type: 'section', text: { type: 'mrkdwn', text } });
  const link = linkOf(message.link);
  const open = { type: 'plain_text', text: 'Open in Runledger' };
  const title = `${message.isGood ? '✅' : '🔴'} ${message.title}`;
  return {
    text: slackText(title),
    unfurl_links: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, 150), emoji: true } },
      ...message.items.map((item) => {
        const page = linkOf(item.link);
        const name = page === undefined ? slackText(item.title) : `<${page}|${slackText(item.title)}>`;
        const error = item.error === '' ? '' : `\n\`\`\`${slackText(item.error).replaceAll('`', 'ˋ')}\`\`\``;
        return section(`${isTitle(item, message) ? '' : `*${name}*\n`}${slackText(item.sentence)}${error}`);
      }),
      ...moreOf(message).map(section),
      ...(link === undefined ? [] : [{ type: 'actions', elements: [{ type: 'button', text: open, url: link }] }]),
    ],
  };
}

/** Slack reads only these as markup that does more than emphasize. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** An Adaptive Card for Workflows. Texts are in runs, which know no Markdown. */
function teams(message: ToldMessage): object {
  const block = (text: string, style: object, link?: string): object => ({
    type: 'RichTextBlock',
    inlines: [
      {
        type: 'TextRun',
        text,
        ...style,
        ...(link !== undefined && { selectAction: { type: 'Action.OpenUrl', url: link } }),
      },
    ],
  });
  const link = linkOf(message.link);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: message.title,
    body: [
      block(message.title, { size: 'Large', weight: 'Bolder', color: message.isGood ? 'Good' : 'Attention' }),
      ...message.items.flatMap((item) => [
        ...(isTitle(item, message) ? [] : [block(item.title, { weight: 'Bolder' }, linkOf(item.link))]),
        block(item.sentence, {}),
        ...(item.error === '' ? [] : [block(item.error, { fontType: 'Monospace' })]),
      ]),
      ...moreOf(message).map((text) => block(text, { isSubtle: true })),
    ],
    ...(link !== undefined && { actions: [{ type: 'Action.OpenUrl', title: 'Open in Runledger', url: link }] }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}

/** A card. Messages about one alert share a thread; `requestId` drops a repetition. */
function googleChat(message: ToldMessage, to: URL, id: string): { url: URL; content: object } {
  const url = new URL(to);
  url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  url.searchParams.set('requestId', id);
  const paragraph = (text: string): object => ({ textParagraph: { text } });
  const link = linkOf(message.link);
  const onClick = { openLink: { url: link } };
  const thread = message.items[0]?.alert?.id;
  const card = {
    header: { title: `${message.isGood ? '✅' : '🔴'} ${message.title}`, subtitle: message.organization },
    sections: [
      {
        widgets: [
          ...message.items.flatMap((item) => {
            const page = linkOf(item.link);
            const named =
              page === undefined ? htmlText(item.title) : `<a href="${htmlText(page)}">${htmlText(item.title)}</a>`;
            return [
              ...(isTitle(item, message) ? [] : [paragraph(`<b>${named}</b>`)]),
              paragraph(htmlText(item.sentence)),
              ...(item.error === '' ? [] : [paragraph(`<code>${htmlText(item.error)}</code>`)]),
            ];
          }),
          ...moreOf(message).map(paragraph),
          ...(link === undefined ? [] : [{ buttonList: { buttons: [{ text: 'Open in Runledger', onClick }] } }]),
        ],
      },
    ],
  };
  const content = {
    fallbackText: message.title,
    cardsV2: [{ cardId: 'runledger', card }],
    ...(thread !== undefined && { thread: { threadKey: thread } }),
  };
  return { url, content };
}

function htmlText(text: string): string {
  return html`${text}`.toString();
}

/** One embed, and nobody is mentioned, whatever a text says. */
function discord(message: ToldMessage): object {
  const link = linkOf(message.link);
  const lines = message.items.map((item) => {
    const page = linkOf(item.link);
    const named = page === undefined ? discordText(item.title) : `[${discordText(item.title)}](${page})`;
    const error = item.error === '' ? '' : `\n\`\`\`\n${item.error.replaceAll('`', 'ˋ')}\n\`\`\``;
    return `${isTitle(item, message) ? '' : `**${named}**\n`}${discordText(item.sentence)}${error}`;
  });
  const embed = {
    title: cut(message.title, 256),
    ...(link !== undefined && { url: link }),
    description: cut([...lines, ...moreOf(message)].join('\n'), 4_096),
    color: message.isGood ? 0x2e_a0_43 : 0xd7_3a_49,
  };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

function discordText(text: string): string {
  return text.replaceAll(/[\\*_~`|>[\]()#-]/g, String.raw`\$&`);
}

/** Published as JSON at the root of the server; the path of the address is the topic. */
function ntfy(message: ToldMessage, to: URL): { url: URL; content: object } {
  const link = linkOf(message.link);
  const lines = message.items.map(({ title, sentence, error }) =>
    [...(title === message.title ? [] : [title]), sentence, ...(error === '' ? [] : [error])].join('\n'),
  );
  const content = {
    topic: decodeURIComponent(to.pathname.slice(1)),
    title: message.title,
    message: [...lines, ...moreOf(message)].join('\n\n'),
    priority: message.isGood ? 3 : 4,
    tags: [message.isGood ? 'white_check_mark' : 'rotating_light'],
    ...(link !== undefined && { click: link, actions: [{ action: 'view', label: 'Open in Runledger', url: link }] }),
  };
  return { url: new URL('/', to), content };
}
