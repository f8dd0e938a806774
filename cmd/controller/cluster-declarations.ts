import {
  ClusterDeclarationSource,
  type ClusterSourceOptions,
} from '../../internal/controller/declarations/cluster-source.ts';
import { clusterAccount } from '../../internal/wiring/cluster-account.ts';
import type { DeclarationConfig } from './declaration-settings.ts';

/** Declarations from the resources of the cluster. @throws {ConfigError} outside a cluster. */
export function createClusterSource(
  config: DeclarationConfig,
  options: Pick<ClusterSourceOptions, 'db' | 'databaseOf' | 'logger' | 'metrics'>,
): ClusterDeclarationSource {
  return new ClusterDeclarationSource({
    ...options,
    connect: clusterAccount(config, 'AUTOMATIONS_FILE'),
    namespaces: config.AUTOMATIONS_NAMESPACES?.split(',') ?? [],
  });
}
