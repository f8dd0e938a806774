/** The default selector of token Secrets. The value of this label is the organization. */
export const defaultLabelSelector = 'runledger.dev/organization';

/**
 * Returns the label whose value is the organization: the first key of the selector. For
 * `runledger.dev/organization,stage in (test)` that is `runledger.dev/organization`.
 * @throws when the selector does not begin with a key.
 */
export function organizationLabelOf(selector: string): string {
  const key = /^\s*([A-Za-z0-9][A-Za-z0-9._/-]*)/.exec(selector)?.[1];
  if (key !== undefined) return key;
  throw new Error(`label selector "${selector}" must begin with the label that names the organization`);
}
