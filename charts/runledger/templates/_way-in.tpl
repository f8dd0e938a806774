{{/*
The way into a component as JSON: its Service, Ingress, Gateway, TLS and public address. `prefix` is
that of its values; those of ingest are at the top level. {} for a component without a way in.
Takes (dict "root" $ "component" "ingest").
*/}}
{{- define "runledger.wayIn" -}}
{{- $all := .root.Values -}}
{{- $common := dict "component" .component -}}
{{- if eq .component "ingest" -}}
  {{- $gateway := include "runledger.gateway.ofIngest" .root | fromJson -}}
  {{- $own := dict "prefix" "" "name" (include "runledger.fullname" .root) "gateway" $gateway "trustProxy" $all.ingest.trustProxy "tls" $all.ingest.tls -}}
  {{- merge $common $own (pick $all "service" "ingress" "publicUrl") | toJson -}}
{{- else if eq .component "console" -}}
  {{- $gateway := include "runledger.gateway.ofConsole" .root | fromJson -}}
  {{- $own := dict "prefix" "console." "name" (include "runledger.component.name" .) "gateway" $gateway -}}
  {{- merge $common $own (pick $all.console "service" "ingress" "publicUrl" "trustProxy" "tls") | toJson -}}
{{- else -}}
  {}
{{- end -}}
{{- end -}}

{{/* The values of gateway as JSON; `parent` is the Gateway to which the routes attach. */}}
{{- define "runledger.gateway.ofIngest" -}}
{{- $parent := .Values.gateway.create.enabled | ternary (dict "name" (include "runledger.fullname" .)) .Values.gateway.parentRef -}}
{{- merge (dict "parent" $parent) .Values.gateway | toJson -}}
{{- end -}}

{{/*
The values of console.gateway as JSON, with those of gateway where they are empty. A Gateway that
the chart creates has a listener for the console.
*/}}
{{- define "runledger.gateway.ofConsole" -}}
{{- $shared := include "runledger.gateway.ofIngest" . | fromJson -}}
{{- $own := .Values.console.gateway -}}
{{- $listener := and (include "runledger.gateway.listensForConsole" .) "https-console" | default $shared.httpsSectionName -}}
{{- $parent := $own.parentRef.name | empty | ternary ($shared.enabled | ternary $shared.parent dict) $own.parentRef -}}
{{- merge (dict "parent" $parent "httpsSectionName" ($own.httpsSectionName | default $listener) "httpSectionName" $shared.httpSectionName) $own | toJson -}}
{{- end -}}

{{/* "true" when the Gateway that the chart creates has a listener for the console. */}}
{{- define "runledger.gateway.listensForConsole" -}}
{{- if .Values.console.enabled -}}
{{- if and .Values.gateway.enabled .Values.gateway.create.enabled .Values.console.gateway.enabled (not .Values.console.gateway.parentRef.name) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" when TLS ends in the pod. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.podTls" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- if $way.tls -}}
{{- if eq $way.tls.mode "always" -}}true
{{- else if and (eq $way.tls.mode "auto") (not $way.ingress.enabled) (not $way.gateway.enabled) -}}true
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
"true" when the pod trusts the X-Forwarded-Proto of a proxy. Takes (dict "root" $ "component" …).
*/}}
{{- define "runledger.trustProxy" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- if or (eq $way.trustProxy "always") (and (eq $way.trustProxy "auto") (or $way.ingress.enabled $way.gateway.enabled)) -}}true{{- end -}}
{{- end -}}

{{/* The Secret with the pod's certificate. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.tlsSecret" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- $way.tls.existingSecret | default (printf "%s-tls" (include "runledger.component.name" .)) -}}
{{- end -}}

{{/* "true" when the chart creates the pod's certificate. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.selfSigned" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- if and (include "runledger.podTls" .) (not $way.tls.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/*
The name of the Service: the chart's, or the user's own. Takes (dict "root" $ "component" …).
*/}}
{{- define "runledger.service.name" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- $way.service.existingName | default $way.name -}}
{{- end -}}

{{/*
The public address: publicUrl, or the first host of ingress or gateway, or the Service.
Takes (dict "root" $ "component" …).
*/}}
{{- define "runledger.publicUrl" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- if $way.publicUrl -}}
{{- trimSuffix "/" $way.publicUrl -}}
{{- else if $way.ingress.enabled -}}
{{- printf "https://%s" (first $way.ingress.hosts) -}}
{{- else if $way.gateway.enabled -}}
{{- printf "https://%s" (first $way.gateway.hostnames) -}}
{{- else -}}
{{- $host := printf "%s.%s.svc" (include "runledger.service.name" .) .root.Release.Namespace -}}
{{- $port := int $way.service.httpsPort -}}
{{- eq $port 443 | ternary (printf "https://%s" $host) (printf "https://%s:%d" $host $port) -}}
{{- end -}}
{{- end -}}

{{/* The environment of the pod's servers. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.servers.env" -}}
- { name: PORT, value: '8080' }
{{- if include "runledger.podTls" . }}
- { name: HTTPS_PORT, value: '8443' }
- { name: TLS_CERT_FILE, value: /etc/runledger/tls/tls.crt }
- { name: TLS_KEY_FILE, value: /etc/runledger/tls/tls.key }
{{- end }}
- { name: OPS_PORT, value: '9090' }
- { name: TRUST_PROXY, value: '{{ include "runledger.trustProxy" . | default "false" }}' }
{{- end -}}
