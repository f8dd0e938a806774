import { Counter, type Registry } from './metrics.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';

/** Returns a function that counts a rejected request of an organization. */
export function limitMetrics(
  registry: Registry,
  label: OrganizationLabel = createOrganizationLabel(defaultOrganizations),
): (organization: string) => void {
  const limited = new Counter({
    name: 'runledger_organization_limited_requests_total',
    help: 'Requests that got 429, because their organization was beyond its rate (ORGANIZATION_RATE, or the annotation of its Secret) or because the overflow lane was full.',
    labelNames: ['organization'] as const,
    registers: [registry],
  });
  return (organization) => limited.inc({ organization: label(organization) });
}
