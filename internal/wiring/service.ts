import { processSettings, requireTimeToStop } from '../config/process-settings.ts';
import { readConfig, type Config, type ConfigName } from '../config/read.ts';
import type { Component } from '../kit/lifecycle/component.ts';
import { ComponentGroup } from '../kit/lifecycle/group.ts';
import { runMain } from '../kit/lifecycle/main.ts';
import { runProcess } from '../kit/lifecycle/run-process.ts';
import { OpsServer } from '../kit/ops/ops-server.ts';
import { createTracing } from '../kit/telemetry/create-tracing.ts';
import { createTelemetry, type Telemetry } from '../kit/telemetry/telemetry.ts';

/** A long-running process: what it reads, and what it runs. */
export interface Service<S extends ConfigName = ConfigName> {
  readonly name: string;
  /** The settings that it reads, besides those of every process. */
  readonly settings: readonly S[];
  /** Settings without a default, which it reads if they are given. */
  readonly optional?: readonly ConfigName[];
  /** True if load balancers send it requests and must notice before it stops. */
  readonly drains: boolean;
  /** Wires its parts in the order of their start, and starts nothing. @throws {ConfigError} */
  wire(
    config: Config<S>,
    telemetry: Telemetry,
    environment?: NodeJS.ProcessEnv,
  ): readonly Component[] | Promise<readonly Component[]>;
}

/** Keeps the names of the settings, by which `wire` gets their types. */
export function defineService<const S extends ConfigName>(service: Service<S>): Service<S> {
  return service;
}

/** Every setting that a process reads. */
export function settingsOf({ settings, optional = [], drains }: Service): readonly ConfigName[] {
  return [...processSettings, ...(drains ? drainSettings : []), ...settings, ...optional];
}

const drainSettings = ['DRAIN_DELAY_MS'] as const;

/** Reads the settings of a process, wires it, and runs it until a signal stops it. */
export function runService<S extends ConfigName>(service: Service<S>): void {
  const { name, settings, drains } = service;
  runMain(async () => {
    const config = readConfig(processSettings);
    const own = readConfig(settings);
    const drainDelayMs = drains ? drainDelayOf() : 0;
    const tracing = await createTracing(name, config);
    const telemetry = { ...createTelemetry(name, config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
    const { logger, probes, registry } = telemetry;
    const ops = new OpsServer(config, probes, registry);
    const parts = await service.wire(own, telemetry);
    await runProcess({
      main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), ...parts], logger),
      probes,
      logger,
      drainDelayMs,
      shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
    });
  });
}

/** The delay before a stop. @throws {ConfigError} when it leaves no time to stop. */
export function drainDelayOf(environment?: NodeJS.ProcessEnv, defaults: { DRAIN_DELAY_MS?: string } = {}): number {
  const config = readConfig(['DRAIN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'], environment, defaults);
  requireTimeToStop(config);
  return config.DRAIN_DELAY_MS;
}
