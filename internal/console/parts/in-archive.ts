import { html, type Html } from '../../kit/html/html.ts';
import type { ArchivedSource } from '../../record/over-events.ts';

/** Words about what was read in the archive, with its objects and their manifests in the title. */
export function inArchive(words: string, sources: readonly ArchivedSource[]): Html {
  const objects = sources.map(({ day, object, manifest_sha256: sha256 }) => `${day}/${object}, manifest ${sha256}`);
  return html`<span title="${objects.join('\n')}">${words}</span>`;
}
