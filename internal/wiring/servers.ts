import { Certificate } from '../intake/http/certificate.ts';
import { ApiServer, type ServerOptions } from '../intake/http/server.ts';
import { ConfigError, type Config } from '../config/read.ts';
import type { Logger } from '../kit/telemetry/logger.ts';

/** The settings of the servers of an API. */
export const serverSettings = [
  'PORT',
  'HTTPS_PORT',
  'LISTEN_ADDRESS',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
  'TRUST_PROXY',
] as const;

/** Without PORT there is no HTTP server. */
type ServerConfig = Omit<Config<(typeof serverSettings)[number]>, 'PORT'> & { PORT: number | undefined };

/**
 * Creates the servers of an API: HTTP first if it has a port, then HTTPS if it is on.
 * @throws {ConfigError} when the settings of TLS are incomplete.
 */
export function createServers(
  config: ServerConfig,
  options: Pick<ServerOptions, 'handler' | 'fastPath' | 'logger' | 'connections' | 'portSetting'>,
): ApiServer[] {
  const { logger } = options;
  const common = { ...options, address: config.LISTEN_ADDRESS };
  const http = config.PORT === undefined ? [] : [new ApiServer({ ...common, port: config.PORT })];
  if (config.HTTPS_PORT === undefined) {
    if (config.TLS_CERT_FILE !== undefined) throw new ConfigError('HTTPS_PORT is required when TLS_CERT_FILE is set');
    if (!config.TRUST_PROXY) logger.warn('every request gets a 301: neither HTTPS_PORT nor TRUST_PROXY is set');
    return http;
  }
  const certificate = createCertificate(config, logger);
  return [...http, new ApiServer({ ...common, port: config.HTTPS_PORT, certificate })];
}

function createCertificate(config: ServerConfig, logger: Logger): Certificate {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  if (certFile === undefined) throw new ConfigError('TLS_CERT_FILE is required when HTTPS_PORT is set');
  if (keyFile === undefined) throw new ConfigError('TLS_KEY_FILE is required when HTTPS_PORT is set');
  return new Certificate(certFile, keyFile, logger);
}
