import { leafOfAct, writeAct, type Act } from '../../ledger/act.ts';
import { sha256 } from '../../ledger/hashing.ts';
import { timeOfId } from '../../ledger/leaf.ts';
import { parseManifest, type Manifest } from './manifest.ts';

/** The act by which the log knows the bytes of a manifest; undefined for one without a log. */
export function actOfManifest({ id, by, organization, day, object }: Manifest, content: string): Act | undefined {
  if (id === null || by === null) return undefined;
  const details = { day, object, sha256: sha256(content).toString('hex') };
  return { id, organization, kind: 'manifest', at: new Date(timeOfId(id)), by, details };
}

/** The log's leaf of a manifest. @throws an Error with the name when the text is no manifest. */
export function leafOfManifest(name: string, content: string): Buffer | undefined {
  const act = actOfManifest(parseManifest(name, content), content);
  return act && leafOfAct(act.id, writeAct(act));
}
