/**
 * Number of manifests after which a source collects garbage, in about 30 ms. Otherwise V8 keeps 30
 * MB of it until after the next tick. Needs Node's option `--expose-gc`, which the image sets.
 */
export const manifestsPerCollection = 1_000;

/** Frees the memory of manifests after reading them. */
export function collectGarbage(): void {
  globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}
