import { HttpMethod, RequestContext, type ResponseBody } from '@kubernetes/client-node/dist/gen/http/http.js';
import { IsomorphicFetchHttpLibrary } from '@kubernetes/client-node/dist/gen/http/isomorphic-fetch.js';
import { Watch } from '@kubernetes/client-node/dist/watch.js';

/*
 * What we use of the library beyond its documentation; test/unit/quirks.test.ts names the version.
 * Its index would load every model of the Kubernetes API: 60 MB, and 0.4 s at the start.
 */
export { HttpMethod, IsomorphicFetchHttpLibrary, RequestContext, type ResponseBody };

/** The two methods of a KubeConfig that a Watch uses. */
interface WatchConfig {
  getCurrentCluster(): { server: string };
  applySecurityAuthentication(request: RequestContext): Promise<void>;
}

/** A watch that ends with a `TimeoutError` after `idleMs` of silence. */
export function createWatch(config: WatchConfig, idleMs: number): Watch {
  const watch = new Watch(config as unknown as Watch['config']);
  watch['requestTimeoutMs'] = idleMs;
  return watch;
}
