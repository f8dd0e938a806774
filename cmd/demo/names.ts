/** How one automation of the fleet runs. */
export interface FleetMember {
  organization: 'acme' | 'globex';
  /** What people call it; undefined if nobody has named it. */
  name: string | undefined;
  /** Minutes between two starts. */
  every: number;
  /** A usual duration, in seconds. */
  lasts: number;
  /** Shares of executions that fail, warn and never end. */
  failing: number;
  warning: number;
  endless: number;
  /** What reports it: its own calls, or an integration whose names look different. */
  from: 'calls' | 'exec' | 'lineage' | 'tekton' | 'jobs';
}

const [hour, day, week] = [60, 1_440, 10_080];

type Temper = Partial<Omit<FleetMember, 'organization' | 'name'>>;

function member(organization: FleetMember['organization'], name: string | undefined, temper: Temper): FleetMember {
  return {
    organization,
    name,
    every: day,
    lasts: 240,
    failing: 0.03,
    warning: 0.1,
    endless: 0,
    from: 'calls',
    ...temper,
  };
}

/**
 * A fleet like those of real organizations: 40 automations of two organizations, with names of 3 to
 * 130 characters in several scripts. The live demo plays the first ones; tests and screenshots use
 * three weeks of all.
 */
export const fleet: readonly FleetMember[] = [
  member('acme', 'SAP upload', { every: hour, lasts: 95, failing: 0.05, warning: 0.2 }),
  member('acme', 'Nightly backup', { lasts: 2_700, failing: 0.01, warning: 0.05, from: 'exec' }),
  member('acme', 'CRM sync', { every: hour, lasts: 40, failing: 0.12, warning: 0.3 }),
  member('acme', 'Report mailer', { failing: 0.02 }),
  member('acme', 'Legacy scraper', { every: 4 * hour, lasts: 1_300, failing: 0.3, warning: 0.4, endless: 0.02 }),
  member('acme', 'FTP', { every: hour, lasts: 4 }),
  member('acme', 'مزامنة فواتير المورّدين مع نظام المحاسبة', { lasts: 320, failing: 0.08 }),
  member('acme', 'סנכרון מלאי לילי – סניפי הצפון', { lasts: 510, failing: 0.1 }),
  member('acme', '🚚 Parcel labels 📦', { every: 4 * hour, lasts: 35, warning: 0.3 }),
  member('acme', '請求書の自動照合と支払予定表の更新', { lasts: 640 }),
  member(
    'acme',
    'Reconcile the general ledger of every subsidiary with the bank statements of the previous business day, then notify controllers',
    { lasts: 5_400, failing: 0.15, warning: 0.3 },
  ),
  member('acme', 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftsabrechnung', {
    lasts: 900,
    failing: 0.2,
  }),
  member('acme', 'Order import (overlapping)', { every: hour, lasts: 5_200, failing: 0.02, from: 'exec' }),
  member('acme', 'Full reindex of the product catalogue', { every: week, lasts: 7_200 }),
  member('acme', 'Settlement of card payments', { lasts: 3_100, failing: 0.1, from: 'exec' }),
  member('acme', 'Weekly licence audit', { every: week, lasts: 800 }),
  member('acme', 'orders-db/public.daily_revenue_by_region_and_sales_channel', { lasts: 210, from: 'lineage' }),
  member('acme', 'airflow-prod/dbt_build.transform_customer_lifetime_value', {
    lasts: 1_450,
    failing: 0.1,
    from: 'lineage',
  }),
  member('acme', 'spark://warehouse/sessionize_clickstream', { every: 4 * hour, lasts: 480, from: 'lineage' }),
  member('acme', 'ci/build-and-push-storefront', { every: 4 * hour, lasts: 380, failing: 0.2, from: 'tekton' }),
  member('acme', 'ci/nightly-end-to-end', { lasts: 2_900, failing: 0.3, from: 'tekton' }),
  member('acme', 'batch/thumbnail-cleanup', { every: 4 * hour, lasts: 25, from: 'jobs' }),
  member('acme', 'batch/rotate-access-logs', { lasts: 12, from: 'jobs' }),
  member('acme', undefined, { every: 4 * hour, lasts: 60, failing: 0.1 }),
  member('acme', undefined, { lasts: 75 }),
  member('acme', undefined, { failing: 0.5, lasts: 33 }),
  member('acme', 'HR: joiners, movers, leavers', { lasts: 130, warning: 0.5 }),
  member('acme', 'VAT return – drafts', { every: week, lasts: 1_900, failing: 0.2 }),
  member('acme', 'Ελληνική αναφορά πωλήσεων', { lasts: 95 }),
  member('acme', 'Синхронизация прайс-листов поставщиков', { lasts: 220, failing: 0.05 }),
  member('globex', 'Invoices', { every: hour, lasts: 20 }),
  member('globex', 'Payroll export', { every: week, lasts: 300 }),
  member('globex', 'Claims triage', { every: 4 * hour, lasts: 150, failing: 0.1 }),
  member('globex', 'تقرير المبيعات اليومي', { lasts: 90 }),
  member('globex', 'Bot 7', { every: 4 * hour, lasts: 45, failing: 0.4 }),
  member('globex', '在庫補充', { lasts: 60 }),
  member('globex', 'globex-etl/public.fact_policies', { lasts: 700, from: 'lineage' }),
  member('globex', 'deploy/promote', { lasts: 240, failing: 0.1, from: 'tekton' }),
  member('globex', 'jobs/vacuum', { lasts: 900, from: 'jobs' }),
  member('globex', undefined, { lasts: 18, failing: 0.2 }),
];
