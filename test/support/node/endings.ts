import { until } from '../until.ts';
import type { Kubernetes } from './kubernetes.ts';

/**
 * Keeps pods after their end, to be looked at. Resolves with a function that waits for the end of
 * each, lets it go, and resolves with the exit codes.
 */
export async function keepAfterEnd(
  kubernetes: Kubernetes,
  namespace: string,
  pods: readonly string[],
): Promise<() => Promise<Record<string, number>>> {
  const path = (pod: string): string => `/api/v1/namespaces/${namespace}/pods/${pod}`;
  const keep = (pod: string, finalizers: readonly string[]): Promise<unknown> =>
    kubernetes.api.must('PATCH', path(pod), { metadata: { finalizers } });
  const codeOf = async (pod: string): Promise<number | undefined> => {
    const { status } = (await kubernetes.api.must('GET', path(pod))) as {
      status: { containerStatuses?: [{ state: { terminated?: { exitCode: number } } }] };
    };
    return status.containerStatuses?.[0].state.terminated?.exitCode;
  };
  for (const pod of pods) await keep(pod, ['runledger.dev/look']);
  return async () => {
    const codes: Record<string, number> = {};
    for (const pod of pods) {
      codes[pod] = await until(`${pod} has ended`, () => codeOf(pod), 240_000, 250);
      await keep(pod, []);
    }
    return codes;
  };
}
