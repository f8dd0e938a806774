{{/* "true" when TLS ends in the pod. */}}
{{- define "runledger.podTls" -}}
{{- $mode := .Values.ingest.tls.mode -}}
{{- if eq $mode "always" -}}true
{{- else if and (eq $mode "auto") (not .Values.ingress.enabled) (not .Values.gateway.enabled) -}}true
{{- end -}}
{{- end -}}

{{/* "true" when ingest trusts the X-Forwarded-Proto of a proxy. */}}
{{- define "runledger.trustProxy" -}}
{{- $mode := .Values.ingest.trustProxy -}}
{{- if or (eq $mode "always") (and (eq $mode "auto") (or .Values.ingress.enabled .Values.gateway.enabled)) -}}true{{- end -}}
{{- end -}}

{{- define "runledger.tlsSecret" -}}
{{- .Values.ingest.tls.existingSecret | default (printf "%s-tls" (include "runledger.ingest.name" .)) -}}
{{- end -}}

{{/* The public address: publicUrl, or the first host of ingress or gateway, or the Service. */}}
{{- define "runledger.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{- trimSuffix "/" .Values.publicUrl -}}
{{- else if .Values.ingress.enabled -}}
{{- printf "https://%s" (first .Values.ingress.hosts) -}}
{{- else if .Values.gateway.enabled -}}
{{- printf "https://%s" (first .Values.gateway.hostnames) -}}
{{- else -}}
{{- $host := printf "%s.%s.svc" (include "runledger.service.name" .) .Release.Namespace -}}
{{- $port := int .Values.service.httpsPort -}}
{{- eq $port 443 | ternary (printf "https://%s" $host) (printf "https://%s:%d" $host $port) -}}
{{- end -}}
{{- end -}}

{{/* The annotations of cert-manager. Takes ingress.tls or gateway.create. */}}
{{- define "runledger.issuerAnnotations" -}}
{{- with .clusterIssuer }}
cert-manager.io/cluster-issuer: {{ . }}
{{- end }}
{{- with .issuer }}
cert-manager.io/issuer: {{ . }}
{{- end }}
{{- end -}}

{{/*
The annotations that turn the controller's own redirect off, so that the pod answers plain HTTP
with 301 for every method. Takes ingress.controller.
*/}}
{{- define "runledger.redirectAnnotations" -}}
{{- if eq . "nginx" }}
nginx.ingress.kubernetes.io/ssl-redirect: 'false'
nginx.ingress.kubernetes.io/force-ssl-redirect: 'false'
{{- else if eq . "traefik" }}
traefik.ingress.kubernetes.io/router.entrypoints: web,websecure
{{- else if eq . "haproxy" }}
haproxy.org/ssl-redirect: 'false'
haproxy-ingress.github.io/ssl-redirect: 'false'
{{- end }}
{{- end -}}
