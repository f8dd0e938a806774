{{/* The environment of the console. */}}
{{- define "runledger.console.env" -}}
{{- $console := dict "root" . "component" "console" }}
{{- include "runledger.servers.env" $console }}
- name: CONSOLE_PUBLIC_URL
  value: {{ include "runledger.publicUrl" $console | quote }}
- name: PUBLIC_URL
  value: {{ include "runledger.publicUrl" (dict "root" . "component" "ingest") | quote }}
{{- include "runledger.tokens.env" . }}
{{- include "runledger.console.database.env" . }}
{{- include "runledger.console.login.env" . }}
{{- include "runledger.acts.env" . }}
{{- if .Values.config.hotDays }}
{{- include "runledger.archive.env" . }}
{{- end }}
- { name: LOG_LEVEL, value: {{ .Values.config.logLevel }} }
{{- include "runledger.caBundle.env" . }}
{{- end -}}

{{/* The environment of sessions, and of the login at an OpenID Connect provider. */}}
{{- define "runledger.console.login.env" -}}
{{- with .Values.console.sessions }}
{{- if .urlSecret.name }}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .urlSecret.name | toYaml }}, key: {{ .urlSecret.key | toYaml }} } }
{{- end }}
- { name: SESSION_IDLE_MINUTES, value: {{ int .idleMinutes | quote }} }
- { name: SESSION_HOURS, value: {{ int .hours | quote }} }
{{- end }}
{{- if not .Values.console.manage }}
- { name: CONSOLE_MANAGE, value: 'false' }
{{- end }}
{{- include "runledger.console.oidc.env" . }}
{{- with .Values.console.oidc }}
{{- if and .issuer .clientSecret.name }}
- name: OIDC_CLIENT_SECRET
  valueFrom: { secretKeyRef: { name: {{ .clientSecret.name | toYaml }}, key: {{ .clientSecret.key | toYaml }} } }
{{- end }}
{{- end }}
{{- end -}}

{{/* The provider, and which groups read or own which organizations. */}}
{{- define "runledger.console.oidc.env" -}}
{{- with .Values.console.oidc }}
{{- if .issuer }}
- { name: OIDC_ISSUER, value: {{ .issuer | quote }} }
{{- with .clientId }}
- { name: OIDC_CLIENT_ID, value: {{ . | quote }} }
{{- end }}
- { name: OIDC_SCOPES, value: {{ .scopes | quote }} }
- { name: OIDC_GROUPS_CLAIM, value: {{ .groupsClaim | quote }} }
- name: OIDC_ORGANIZATIONS
  value: {{ .organizations | toJson | quote }}
{{- with .proxyAudience }}
- { name: OIDC_PROXY_AUDIENCE, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
True if owners make tokens in the console: then the controller writes Secrets in the tokens'
namespace, and checks the owners' logins itself.
*/}}
{{- define "runledger.owners" -}}
{{- if and .Values.console.enabled .Values.controller.enabled -}}
{{- $hasOwner := contains "role: owner" (.Values.console.oidc.organizations | toYaml) -}}
{{- if and .Values.console.manage .Values.console.oidc.issuer $hasOwner }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* The key with which the console and the controller write acts to the log. */}}
{{- define "runledger.acts.env" -}}
{{- with .Values.config.ledgerKeySecret }}
- name: LEDGER_MAC_KEY
  valueFrom: { secretKeyRef: { name: {{ . | toYaml }}, key: ledger-act-key } }
{{- end }}
{{- end -}}
