/** A UUID in its canonical form, in lower or upper case; of any version. */
export const uuidPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

const uuidForm = new RegExp(uuidPattern);

/** True for a UUID in any letter case. */
export function isUuid(text: string): boolean;
export function isUuid(text: unknown): text is string;
export function isUuid(text: unknown): boolean {
  return typeof text === 'string' && uuidForm.test(text);
}
