/** Codes of certificates that no trusted authority has signed. */
const untrusted: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Says why a request got no answer. `peer` is what should answer. */
export function reasonOf(error: unknown, peer: string): string {
  if (!(error instanceof Error)) return `${peer} does not answer: ${String(error)}`;
  const code = 'code' in error ? String(error.code) : '';
  if (untrusted.has(code)) return `${peer} has a certificate that is not trusted: set --ca-file (RUNLEDGER_CA_FILE)`;
  // The error of a name with several addresses has no message.
  return `${peer} does not answer: ${error.message || code}`;
}
