/**
 * Which Secrets hold tokens unless configured otherwise; the value of the label is the
 * organization.
 */
export const defaultLabelSelector = 'runledger.dev/organization';

/**
 * The label whose value is the organization: the first key of a label selector, such as
 * `runledger.dev/organization` of `runledger.dev/organization,stage in (test)`. Throws an Error
 * when the selector does not begin with a key.
 */
export function organizationLabelOf(selector: string): string {
  const key = /^\s*([A-Za-z0-9][A-Za-z0-9._/-]*)/.exec(selector)?.[1];
  if (key !== undefined) return key;
  throw new Error(`label selector "${selector}" must begin with the label that names the organization`);
}
