import { Ajv, type AnySchema } from 'ajv';

const text = (maxLength: number): object => ({ type: 'string', minLength: 1, maxLength });
const link = { type: 'string', pattern: '^https://', maxLength: 2_000 };
const exactly = (required: Record<string, unknown>, optional: Record<string, unknown> = {}): object => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});
const list = (items: object, maxItems: number): object => ({ type: 'array', items, minItems: 1, maxItems });

const plainText = (most: number): object =>
  exactly({ type: { const: 'plain_text' }, text: text(most) }, { emoji: { type: 'boolean' } });

/** Incoming webhooks and Block Kit: https://docs.slack.dev/reference/block-kit/blocks */
const slack = exactly(
  {
    text: text(4_000),
    blocks: list(
      {
        oneOf: [
          exactly({ type: { const: 'header' }, text: plainText(150) }),
          exactly({ type: { const: 'section' }, text: exactly({ type: { const: 'mrkdwn' }, text: text(3_000) }) }),
          exactly({
            type: { const: 'actions' },
            elements: list(exactly({ type: { const: 'button' }, text: plainText(75), url: link }), 25),
          }),
        ],
      },
      50,
    ),
  },
  { unfurl_links: { type: 'boolean' } },
);

const openUrl = exactly({ type: { const: 'Action.OpenUrl' }, url: link }, { title: text(200) });
const textRun = exactly(
  { type: { const: 'TextRun' }, text: text(10_000) },
  {
    size: { enum: ['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'] },
    weight: { enum: ['Default', 'Lighter', 'Bolder'] },
    color: { enum: ['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'] },
    fontType: { enum: ['Default', 'Monospace'] },
    isSubtle: { type: 'boolean' },
    selectAction: openUrl,
  },
);

/**
 * A message for "When a Teams webhook request is received", with the elements in use of
 * http://adaptivecards.io/schemas/adaptive-card.json
 */
const teams = exactly({
  type: { const: 'message' },
  attachments: list(
    exactly({
      contentType: { const: 'application/vnd.microsoft.card.adaptive' },
      contentUrl: { type: 'null' },
      content: exactly(
        {
          $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
          type: { const: 'AdaptiveCard' },
          version: { enum: ['1.2', '1.3', '1.4'] },
          body: list(exactly({ type: { const: 'RichTextBlock' }, inlines: list(textRun, 100) }), 100),
        },
        { fallbackText: text(1_000), actions: list(openUrl, 6) },
      ),
    }),
    1,
  ),
});

/** https://developers.google.com/workspace/chat/api/reference/rest/v1/cards */
const googlechat = exactly(
  {
    cardsV2: list(
      exactly({
        cardId: text(64),
        card: exactly({
          header: exactly({ title: text(1_000) }, { subtitle: text(1_000) }),
          sections: list(
            exactly({
              widgets: list(
                {
                  oneOf: [
                    exactly({ textParagraph: exactly({ text: text(10_000) }) }),
                    exactly({
                      buttonList: exactly({
                        buttons: list(
                          exactly({ text: text(100), onClick: exactly({ openLink: exactly({ url: link }) }) }),
                          10,
                        ),
                      }),
                    }),
                  ],
                },
                100,
              ),
            }),
            100,
          ),
        }),
      }),
      1,
    ),
  },
  { fallbackText: text(1_000), thread: exactly({ threadKey: text(4_000) }) },
);

/**
 * `IncomingWebhookRequestPartial` in Discord's own description of its API, specs/openapi.json of
 * https://github.com/discord/discord-api-spec, with what we use of it. The sum of 6,000 characters:
 * https://docs.discord.com/developers/resources/message#embed-object-embed-limits
 */
const discord = exactly({
  embeds: list(
    exactly(
      { title: text(256), description: text(4_096), color: { type: 'integer', minimum: 0, maximum: 0xff_ff_ff } },
      { url: link },
    ),
    10,
  ),
  allowed_mentions: exactly({ parse: { type: 'array', maxItems: 0 } }),
});

/**
 * https://docs.ntfy.sh/publish/#publish-as-json; the pattern of a topic, and the size at which a
 * message becomes an attachment, are in server/server.go of https://github.com/binwiederhier/ntfy
 */
const ntfy = exactly(
  {
    topic: { type: 'string', pattern: '^[-_A-Za-z0-9]{1,64}$' },
    message: text(4_096),
    title: text(1_000),
    priority: { enum: [1, 2, 3, 4, 5] },
    tags: list(text(64), 5),
  },
  { click: link, actions: list(exactly({ action: { const: 'view' }, label: text(64), url: link }), 3) },
);

/** Largest body that each service takes: characters for Slack and Discord, bytes for the others. */
export const sizes = { slack: 13_000, teams: 28 * 1_024, googlechat: 32_000, discord: 6_000, ntfy: 4_096 } as const;

const ajv = new Ajv({ allErrors: true, strict: false });

/** The format of each service, as its documentation gives it. */
export const vendorFormats = Object.fromEntries(
  Object.entries({ slack, teams, googlechat, discord, ntfy }).map(([name, schema]) => [
    name,
    (body: string): unknown[] => {
      const check = ajv.compile(schema as AnySchema);
      return check(JSON.parse(body)) === true ? [] : (check.errors ?? []);
    },
  ]),
) as Record<keyof typeof sizes, (body: string) => unknown[]>;
