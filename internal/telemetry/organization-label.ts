/** The value of the label `organization` for an organization. */
export type OrganizationLabel = (organization: string) => string;

/**
 * Bounds the label `organization`: the first `most` organizations that a process sees keep their
 * name, those that come later are counted together as `other`. With 0 the label is empty, which
 * Prometheus takes for absent.
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

/** What processes use whose settings say nothing else. */
export const defaultOrganizations = 200;
