import type { Config } from '../../internal/config/read.ts';

/** The settings of the source of declarations. */
export const declarationSettings = [
  'AUTOMATIONS_FILE',
  'AUTOMATIONS_NAMESPACES',
  'TOKENS_ACCOUNT_DIR',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'KUBECONFIG',
] as const;

export type DeclarationConfig = Config<(typeof declarationSettings)[number]>;
