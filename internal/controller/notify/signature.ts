import { createHmac } from 'node:crypto';

const form = /^(?:whsec_)?(?<base64>[A-Za-z\d+/]+={0,2})$/;

/**
 * The key in a Standard Webhooks secret: base64 of 24 to 64 bytes, with or without `whsec_`.
 * Undefined if the text is no such secret.
 */
export function signingKey(secret: string): Buffer | undefined {
  const base64 = form.exec(secret.trim())?.groups?.['base64'];
  const key = Buffer.from(base64 ?? '', 'base64');
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/**
 * The headers of a signed webhook (https://www.standardwebhooks.com). Each key adds a signature. A
 * receiver accepts any of them, so a secret can be rotated without a gap.
 * @param id the same for all attempts of a delivery.
 */
export function signedHeaders(id: string, at: Date, body: string, keys: readonly Buffer[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = keys.map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
  };
}
