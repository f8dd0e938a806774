/** The label value of an organization. */
export type OrganizationLabel = (organization: string) => string;

/**
 * Bounds the label `organization`: the first `most` organizations keep their names, later ones
 * count as `other`. With 0 the label is empty, which Prometheus treats as absent.
 */
export function createOrganizationLabel(most: number): OrganizationLabel {
  if (most === 0) return () => '';
  const seen = new Set<string>();
  return (organization) => {
    if (seen.has(organization)) return organization;
    if (seen.size >= most) return 'other';
    seen.add(organization);
    return organization;
  };
}

/** The default for processes without the setting. */
export const defaultOrganizations = 200;
