import { str } from 'envalid';
import { databaseSettings } from './database-settings.ts';
import { keySettings } from './key-settings.ts';
import { ledgerSettings } from './ledger-settings.ts';
import { overflowSettings } from './overflow-settings.ts';
import { readerSettings } from './reader-settings.ts';
import {
  flag,
  hostList,
  httpsUrl,
  ipAddress,
  issuerUrl,
  mailSender,
  namespaces,
  portNumber,
  queueName,
  ratio,
  redisUrls,
  scopes,
  smtpUrl,
  urlList,
  wholeNumber,
} from './validators.ts';

/** Every setting, with its default. Processes that use a setting without a default require it. */
export const settings = {
  PORT: portNumber({ default: 8080, desc: 'HTTP port for a proxy that ends TLS; plain HTTP gets 301' }),
  HTTPS_PORT: portNumber({ default: undefined, desc: 'HTTPS port, with TLS in the pod; off unless set' }),
  TLS_CERT_FILE: str({ default: undefined, desc: 'Certificate chain (PEM) of HTTPS_PORT; reloaded when it changes' }),
  TLS_KEY_FILE: str({ default: undefined, desc: 'Private key (PEM) of HTTPS_PORT; reloaded when it changes' }),
  OPS_PORT: portNumber({ default: 9090, desc: '/metrics, /healthz and /readyz; do not expose it outside' }),
  LISTEN_ADDRESS: ipAddress({
    default: undefined,
    desc: 'Address that every port listens on; all addresses unless set (standalone: 127.0.0.1)',
  }),
  PUBLIC_URL: httpsUrl({ desc: 'The https:// address of callers; the target of 301s' }),
  CONSOLE_PUBLIC_URL: httpsUrl({ desc: 'The https:// address readers use; 301s and links to next pages lead there' }),
  TRUST_PROXY: flag({
    default: false,
    desc: 'true trusts X-Forwarded-Proto and -For; only behind a proxy that sets them',
  }),
  REDIS_URL: redisUrls({
    desc: 'redis:// or rediss://; commas separate the nodes of a Redis Cluster, spaces the shards of the queue',
  }),
  REDIS_DRAIN_URL: redisUrls({
    default: [],
    desc: 'Former shards, separated by spaces: ingest no longer writes to them, workers and controller still read them',
  }),
  QUEUE_SHARDS: wholeNumber({
    min: 1,
    max: 16,
    default: 1,
    desc: 'Shards of the queue inside one Redis or Redis Cluster; a cluster spreads them over its masters',
  }),
  REDIS_SENTINELS: hostList({
    default: [],
    desc: 'host:port of each Redis Sentinel, comma-separated; the host in REDIS_URL is then the name of the master',
  }),
  REDIS_SENTINEL_USERNAME: str({ default: undefined, desc: 'User name of the Sentinels' }),
  REDIS_SENTINEL_PASSWORD: str({ default: undefined, desc: 'Password of the Sentinels' }),
  REDIS_ACKS: wholeNumber({
    min: 0,
    max: 100,
    default: 0,
    desc: 'Redis replicas that must acknowledge an event before its 201, or before a worker moves it',
  }),
  REDIS_USERNAME: str({ default: undefined, desc: 'User name, if REDIS_URL has none' }),
  REDIS_PASSWORD: str({ default: undefined, desc: 'Password, if REDIS_URL has none; any characters' }),
  ...databaseSettings,
  OIDC_ISSUER: issuerUrl({
    default: undefined,
    desc: 'Issuer of the OpenID Connect provider through which people log in to the console; off unless set',
  }),
  OIDC_CLIENT_ID: str({ default: undefined, desc: 'Client id of the console at the provider' }),
  OIDC_CLIENT_SECRET: str({ default: undefined, desc: 'Client secret; none for a public client' }),
  OIDC_SCOPES: scopes({ default: 'openid profile email', desc: 'Scopes that the console asks the provider for' }),
  OIDC_GROUPS_CLAIM: str({
    default: 'groups',
    desc: "Claim with a person's groups; a path such as realm_access.roles works",
  }),
  OIDC_ORGANIZATIONS: str({
    default: undefined,
    desc: "Which groups read or own which organizations, in YAML: {billing: acme, ops: {organization: '*', role: owner}}",
  }),
  CONSOLE_MANAGE: flag({ default: true, desc: 'false makes the console read-only: owners become readers' }),
  OIDC_PROXY_AUDIENCE: str({
    default: undefined,
    desc: 'Client id of a proxy that logs people in and sends their id token as Authorization: Bearer; off unless set',
  }),
  SESSION_IDLE_MINUTES: wholeNumber({
    min: 5,
    max: 525_600,
    default: 120,
    desc: 'How long an unused console session lasts',
  }),
  SESSION_HOURS: wholeNumber({
    min: 1,
    max: 8_760,
    default: 12,
    desc: 'How long a console session lasts after login',
  }),
  QUEUE_NAME: queueName({ default: 'events', desc: 'Name of the queue in Redis' }),
  TOKENS_NAMESPACE: str({ default: undefined, desc: "Namespace of the token Secrets; the pod's namespace unless set" }),
  TOKENS_LABEL_SELECTOR: str({ default: 'runledger.dev/organization', desc: 'Selects the token Secrets' }),
  TOKENS_FILE: str({
    default: undefined,
    desc: 'File of Secret manifests (YAML) with the tokens, instead of a cluster',
  }),
  KUBERNETES_SERVICE_HOST: str({ default: undefined, desc: 'Host of the API server; set by Kubernetes' }),
  KUBERNETES_SERVICE_PORT: portNumber({ default: 443, desc: 'Port of the API server; set by Kubernetes' }),
  KUBECONFIG: str({ default: undefined, desc: "A kubeconfig file to use instead of the pod's account" }),
  REQUIRE_DURABLE_REDIS: flag({ default: false, desc: 'true refuses events while Redis may lose them' }),
  ORGANIZATION_RATE: wholeNumber({
    min: 0,
    max: 1e9,
    default: 0,
    desc: 'Events a second that one ingest accepts from an organization, beyond which it gets 429; 0 for no limit',
  }),
  ...overflowSettings,
  ...keySettings,
  CONSOLE_DATABASE_CONNECTIONS: wholeNumber({
    min: 2,
    max: 100,
    default: 10,
    desc: 'Postgres connections of a console, and so its concurrent queries',
  }),
  ...readerSettings,
  RETENTION_DAYS: wholeNumber({
    min: 0,
    max: 36_500,
    default: 0,
    desc: 'Days that events, their executions and dead letters are kept; 0 keeps everything',
  }),
  ...ledgerSettings,
  METRICS_ORGANIZATIONS: wholeNumber({
    min: 0,
    max: 10_000,
    default: 200,
    desc: 'Most organizations named in metrics; the rest count as `other`. 0 names none',
  }),
  AUTOMATIONS_FILE: str({
    default: undefined,
    desc: 'File of Automation, Channel, Namespace and Secret manifests; the resources of the cluster unless set',
  }),
  AUTOMATIONS_NAMESPACES: namespaces({
    default: undefined,
    desc: 'Namespaces whose Automations and Channels count, comma-separated; all namespaces unless set',
  }),
  CAPTURE_JOBS: flag({ default: false, desc: 'true records the Jobs with the label runledger.dev/capture' }),
  ALERTMANAGER_URLS: urlList({
    default: [],
    desc: 'Address of every Alertmanager replica, comma-separated; not a load balancer',
  }),
  SMTP_URL: smtpUrl({
    default: undefined,
    desc: 'The mail server of email channels: smtp://user:password@host:587 (STARTTLS) or smtps://user:password@host:465',
  }),
  SMTP_FROM: mailSender({
    default: undefined,
    desc: 'The sender of mails, such as `Runledger <runledger@example.com>`; required with SMTP_URL',
  }),
  CHANNEL_ALLOW_PRIVATE: flag({
    default: false,
    desc: 'true lets channels connect to private addresses, except metadata services',
  }),
  METRICS_AUTOMATIONS: wholeNumber({
    min: 0,
    max: 10_000,
    default: 0,
    desc: 'Most automations with a verdict gauge of their own; 0 for none',
  }),
  LOG_LEVEL: str({
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    desc: 'Least severe level to log',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: str({ default: undefined, desc: 'Address for traces (OTLP over HTTP); off unless set' }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: str({ default: undefined, desc: 'Full address for traces, including the path' }),
  OTEL_TRACES_EXPORTER: str({ default: undefined, choices: ['otlp', 'none'], desc: 'none turns traces off' }),
  OTEL_TRACES_SAMPLER: str({
    default: 'parentbased_always_on',
    choices: [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    desc: 'Selects which traces are recorded',
  }),
  OTEL_TRACES_SAMPLER_ARG: ratio({ default: 1, desc: 'Share of recorded traces, for the ratio samplers' }),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber({ min: 1, max: 600_000, default: 5_000, desc: 'Pause between sends, in ms' }),
  OTEL_SDK_DISABLED: flag({ default: false, desc: 'true turns traces off' }),
  DRAIN_DELAY_MS: wholeNumber({
    min: 0,
    max: 60_000,
    default: 3_000,
    desc: 'Time between failing readiness and the stop, so that load balancers notice',
  }),
  SHUTDOWN_TIMEOUT_MS: wholeNumber({
    min: 1_000,
    max: 600_000,
    default: 25_000,
    desc: 'Longest graceful stop, including DRAIN_DELAY_MS',
  }),
  CONSOLE_PORT: portNumber({ default: 8444, desc: 'HTTPS port of the console in standalone' }),
  DATA_DIR: str({ default: '.data', desc: 'Data folder of standalone' }),
};

export type SettingName = keyof typeof settings;
