/** What the archive has is not what was written: an object or a manifest is gone or changed. */
export class ArchiveDamaged extends Error {
  override readonly name = 'ArchiveDamaged';
}

/** The archive does not answer, or none is set. */
export class ArchiveAway extends Error {
  override readonly name = 'ArchiveAway';
}
