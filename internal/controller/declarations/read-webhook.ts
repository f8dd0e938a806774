import { isUuid } from '../../event/uuid.ts';
import { Fields } from '../../expectation/fields.ts';
import type { WebhookSpec } from './declarations.ts';

/** The kinds of notifications that a `Webhook` may name. */
export const webhookKinds = [
  'automation.missing',
  'automation.late',
  'automation.overrunning',
  'automation.failing',
  'automation.lost',
  'automation.unknown',
  'automation.resolved',
  'execution.started',
  'execution.succeeded',
  'execution.failed',
] as const;

/** The format of a Secret's name. */
const secretName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** A checked declaration, or all of its problems as `field: problem`. */
export type ReadWebhook = { spec: WebhookSpec; problems: [] } | { spec?: undefined; problems: string[] };

/** Checks the `spec` of a `Webhook`. */
export function readWebhook(given: unknown): ReadWebhook {
  const fields = new Fields(given, '');
  fields.only(['url', 'secretRef', 'kinds', 'filter']);
  const url = fields.text('url', 2_048) ?? fields.missing('url') ?? '';
  if (url !== '') checkUrl(url, fields);
  const secretRef = fields.group('secretRef') ?? fields.missing('secretRef');
  secretRef?.only(['name']);
  const name = secretRef?.text('name', 253) ?? secretRef?.missing('name') ?? '';
  if (name !== '' && !secretName.test(name)) secretRef?.problem('name', 'must be the name of a Secret');
  const filter = fields.group('filter');
  filter?.only(['automations', 'owners']);
  const automations = filter?.texts('automations', 500, 36);
  for (const id of automations ?? []) if (!isUuid(id)) filter?.problem('automations', `${id} is not a UUID`);
  const owners = filter?.texts('owners', 100, 200);
  const kinds = fields.texts('kinds', 20, 100) ?? [];
  for (const kind of kinds) {
    if (!webhookKinds.some((known) => known === kind)) {
      fields.problem('kinds', `${kind} is unknown; known are ${webhookKinds.join(', ')}`);
    }
  }
  const spec: WebhookSpec = {
    url,
    secretRef: name,
    kinds,
    filter: { ...(automations && { automations }), ...(owners && { owners }) },
  };
  return fields.problems.length === 0 ? { spec, problems: [] } : { problems: fields.problems };
}

function checkUrl(text: string, fields: Fields): void {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') fields.problem('url', 'must be an address that begins with https://');
  else if (url.username !== '' || url.password !== '') {
    fields.problem('url', 'must not hold a user name or password: receivers verify the signature');
  }
}
