import { isUuid } from '../event/uuid.ts';
import type { AutomationLink, AutomationSpec } from './automation.ts';
import { Fields } from './fields.ts';
import { readExpectation } from './read-expectation.ts';

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]{0,62}$/;
const mostLabels = 16;

/** Labels that Runledger sets itself. */
const ownLabels = new Set(['alertname', 'organization', 'automation']);

/** A checked declaration, or all of its problems as `field: problem`. */
export type ReadAutomation = { spec: AutomationSpec; problems: [] } | { spec?: undefined; problems: string[] };

/** Stands in for the namespace of a resource if a declaration was made in the console. */
export const consoleNamespace = 'runledger.console';

/** Checks the `spec` of an `Automation` and fills in the defaults. */
export function readAutomation(given: unknown): ReadAutomation {
  const fields = new Fields(given, '');
  fields.only(['automationId', 'displayName', 'owner', 'tags', 'links', 'expect', 'alertLabels', 'suspend']);
  const automationId = fields.text('automationId') ?? fields.missing('automationId') ?? '';
  if (automationId !== '' && !isUuid(automationId)) fields.problem('automationId', 'must be a UUID');
  const expect = fields.group('expect');
  const spec: AutomationSpec = {
    automationId: automationId.toLowerCase(),
    displayName: fields.text('displayName', 200) ?? '',
    owner: fields.text('owner', 200) ?? '',
    tags: readTags(fields),
    links: readLinks(fields),
    expect: undefined,
    alertLabels: readLabels(fields),
    suspend: fields.flag('suspend') ?? false,
  };
  if (expect !== undefined) spec.expect = readExpectation(expect).declared;
  return fields.problems.length === 0 ? { spec, problems: [] } : { problems: fields.problems };
}

/** Tags as declared, each once. */
function readTags(fields: Fields): string[] {
  const tags = (fields.texts('tags', 20, 50) ?? []).map((tag) => tag.trim());
  if (tags.includes('')) fields.problem('tags', 'must not be empty');
  return [...new Set(tags)];
}

function readLinks(fields: Fields): AutomationLink[] {
  return fields.groups('links', 20).map((link) => {
    link.only(['title', 'url']);
    const url = link.text('url', 2_000) ?? link.missing('url') ?? '';
    if (url !== '' && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      link.problem('url', 'must be an http:// or https:// address');
    }
    return { title: link.text('title', 200) ?? url, url };
  });
}

function readLabels(fields: Fields): Record<string, string> {
  const labels = fields.group('alertLabels');
  if (labels === undefined) return {};
  if (labels.names().length > mostLabels)
    return fields.problem('alertLabels', `must have at most ${mostLabels} labels`) ?? {};
  const read = labels.names().map((name) => {
    if (!labelName.test(name)) labels.problem(name, 'must be a label name: at most 63 letters, digits and underscores');
    if (ownLabels.has(name)) labels.problem(name, 'is a label that Runledger sets itself');
    return [name, labels.text(name, 200) ?? ''] as const;
  });
  return Object.fromEntries(read);
}
