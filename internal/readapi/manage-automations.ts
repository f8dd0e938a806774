import { readAutomation, consoleNamespace } from '../expectation/read-automation.ts';
import type { AutomationSpec } from '../expectation/automation.ts';
import { RequestError, type FieldError } from '../kit/errors/request-error.ts';
import type { Declaration } from '../record/declaration.ts';
import type { Applied } from '../store/console-automations.ts';
import { answerJson } from './answer-json.ts';
import type { Endpoint } from './endpoint.ts';
import { escaped, isObject, malformedBody, readObject, unknownFields, type ManageOptions } from './manage-request.ts';
import { flag } from './parameters.ts';
import { readPath } from './path.ts';
import { readQuery } from './query.ts';

/** What a change of declarations did, or would do. */
export interface AppliedDeclarations extends Applied {
  /** Automations that a resource or a file declares too. It wins over what is declared here. */
  overruled: { automation: string; by: string }[];
}

type Declarer = Pick<ManageOptions, 'automations' | 'record'>;

/** Declares automations, for the console and the API alike. As `ConsoleAutomations.apply`. */
export async function declareAutomations(
  { automations, record }: Declarer,
  organization: string,
  specs: readonly AutomationSpec[],
  options: { isWhole?: boolean; isDryRun?: boolean } = {},
): Promise<AppliedDeclarations> {
  const ids = specs.map(({ automationId }) => automationId);
  const applied = await automations.apply(
    organization,
    new Map(specs.map((spec) => [spec.automationId, spec])),
    options,
  );
  const known = ids.length === 0 ? [] : await record.listDeclarations(organization, ids);
  const overruled = known.filter(isElsewhere).map(({ automation, namespace, name }) => ({
    automation,
    by: `${namespace}/${name}`,
  }));
  return { ...applied, overruled };
}

/** True if a resource, a file or a CronJob makes the declaration, which wins over the console. */
export function isElsewhere(declaration: Declaration | undefined): declaration is Declaration {
  return declaration?.declared === true && declaration.namespace !== consoleNamespace;
}

const dryRun = { dry_run: flag } as const;

/** `PUT /v1/automations/`: the organization declares exactly these automations. */
export function applyAutomations(options: ManageOptions): Endpoint {
  return {
    path: '/v1/automations/',
    method: 'PUT',
    texts: true,
    answer: async (ctx) => {
      const { dry_run: isDryRun = false } = readQuery(ctx, dryRun);
      const { automations: list, ...others } = await readObject(ctx);
      const faults = unknownFields('', others, ['automations']);
      if (!Array.isArray(list)) faults.push({ pointer: '/automations', detail: 'must be a list' });
      const given: unknown[] = Array.isArray(list) ? list : [];
      const specs = given.flatMap((one, index) => readOne(one, `/automations/${index}`, faults) ?? []);
      const seen = new Set<string>();
      for (const [index, { automationId }] of specs.entries()) {
        const pointer = `/automations/${index}/automation_id`;
        if (seen.has(automationId)) faults.push({ pointer, detail: 'is declared twice' });
        seen.add(automationId);
      }
      if (faults.length > 0) throw malformedBody(faults);
      const { organization } = ctx.state;
      const applied = await declareAutomations(options, organization, specs, { isWhole: true, isDryRun });
      const { created, changed, removed } = applied;
      if (!isDryRun && created.length + changed.length + removed.length > 0) {
        const counts = `${created.length} created, ${changed.length} changed, ${removed.length} removed`;
        options.note(ctx, 'named', `automations: ${counts}`);
      }
      answerJson(ctx, { dry_run: isDryRun, ...applied }, { changesAlways: true });
    },
  };
}

/** `PUT /v1/automations/{automation_id}/`: declares one automation. */
export function putAutomation(options: ManageOptions): Endpoint {
  return {
    path: '/v1/automations/{automation_id}/',
    method: 'PUT',
    answer: async (ctx) => {
      const { dry_run: isDryRun = false } = readQuery(ctx, dryRun);
      const { automation_id } = readPath(ctx, 'automation_id');
      const faults: FieldError[] = [];
      const { automation_id: id = automation_id, ...given } = await readObject(ctx);
      if (typeof id !== 'string' || id.toLowerCase() !== automation_id) {
        faults.push({ pointer: '/automation_id', detail: 'must be the id in the address, or absent' });
      }
      const spec = readOne({ ...given, automation_id }, '', faults);
      if (spec === undefined || faults.length > 0) throw malformedBody(faults);
      const applied = await declareAutomations(options, ctx.state.organization, [spec], { isDryRun });
      const isNew = applied.created.length > 0;
      if (!isDryRun && applied.unchanged.length === 0) {
        options.note(ctx, 'named', `${spec.displayName} ${automation_id}`);
      }
      answerJson(ctx, { dry_run: isDryRun, ...applied }, { changesAlways: true });
      if (isNew && !isDryRun) ctx.status = 201;
    },
  };
}

/** `DELETE /v1/automations/{automation_id}/`: removes what the console or the API declared. */
export function removeAutomation({ automations, note }: ManageOptions): Endpoint {
  return {
    path: '/v1/automations/{automation_id}/',
    method: 'DELETE',
    answer: async (ctx) => {
      const { automation_id } = readPath(ctx, 'automation_id');
      if (!(await automations.remove(ctx.state.organization, automation_id))) {
        throw new RequestError('not-found', 'Neither the console nor the API declares this automation.');
      }
      note(ctx, 'named', `${automation_id}, its declaration is removed`);
      ctx.status = 204;
    },
  };
}

/** The fields of the API, and their names in the `spec` of a resource. */
const fields = {
  automation_id: 'automationId',
  display_name: 'displayName',
  owner: 'owner',
  tags: 'tags',
  links: 'links',
  expect: 'expect',
  alert_labels: 'alertLabels',
  suspend: 'suspend',
} as const;
const names = Object.keys(fields) as (keyof typeof fields)[];

/** Reads one declaration. Adds each fault with its pointer; returns undefined if there is one. */
function readOne(given: unknown, at: string, faults: FieldError[]): AutomationSpec | undefined {
  if (!isObject(given)) {
    faults.push({ pointer: at, detail: 'must be an object' });
    return undefined;
  }
  const found = unknownFields(at, given, names);
  const known = names.filter((name) => Object.hasOwn(given, name));
  const { spec, problems } = readAutomation(Object.fromEntries(known.map((name) => [fields[name], given[name]])));
  found.push(...problems.map((problem) => faultOf(problem, at)));
  if (spec?.displayName === '') found.push({ pointer: `${at}/display_name`, detail: 'is required' });
  faults.push(...found);
  return found.length === 0 ? spec : undefined;
}

/** The fault of a problem such as `links[0].url: is required`. */
function faultOf(problem: string, at: string): FieldError {
  const [, path = '', detail = problem] = /^([^:]+): (.*)$/s.exec(problem) ?? [];
  const [first = '', ...rest] = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  const name = names.find((one) => fields[one] === first) ?? first;
  return { pointer: [at, name, ...rest.map(escaped)].join('/'), detail };
}
