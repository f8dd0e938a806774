import { ApiError } from './api-error.ts';
import { sendRequest } from './api-request.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { KubernetesObject, ObjectReference } from './object.ts';

/** Whether the API server has this very object, and not another one with its name. */
export async function exists(
  access: ClusterAccess,
  { group, plural }: { readonly group: string; readonly plural: string },
  { namespace, name, uid }: Pick<ObjectReference, 'namespace' | 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<boolean> {
  const place = `/${group}/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`;
  try {
    const object = await sendRequest(access, { action: `get one of ${plural}`, path: place, signal });
    return (object as KubernetesObject).metadata?.uid === uid;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
