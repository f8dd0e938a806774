{{/* The annotations of cert-manager. Takes ingress.tls or gateway.create. */}}
{{- define "runledger.issuerAnnotations" -}}
{{- with .clusterIssuer }}
cert-manager.io/cluster-issuer: {{ . | toYaml }}
{{- end }}
{{- with .issuer }}
cert-manager.io/issuer: {{ . | toYaml }}
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

{{/* The Ingress of a component, when enabled. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.ingress" -}}
{{- $way := include "runledger.wayIn" . | fromJson }}
{{- if $way.ingress.enabled }}
{{- $annotations := dict }}
{{- $annotations = merge $annotations $way.ingress.annotations }}
{{- $annotations = merge $annotations (include "runledger.redirectAnnotations" $way.ingress.controller | fromYaml) }}
{{- $annotations = merge $annotations (include "runledger.issuerAnnotations" $way.ingress.tls | fromYaml) }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $way.name | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (dict "root" .root "component" .component "annotations" $annotations) | nindent 2 }}
spec:
  {{- with $way.ingress.className }}
  ingressClassName: {{ . | toYaml }}
  {{- end }}
  tls:
    - secretName: {{ $way.ingress.tls.secretName | toYaml }}
      hosts:
        {{- toYaml $way.ingress.hosts | nindent 8 }}
  rules:
    {{- range $way.ingress.hosts }}
    - host: {{ . | quote }}
      http:
        paths:
          # Every path: for a narrower one the controller may add a slash by its own redirect.
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ include "runledger.service.name" $ | toYaml }}
                port: { number: {{ $way.service.port }} }
    {{- end }}
{{- end }}
{{- end -}}

{{/*
The HTTPRoutes of a component, when enabled: one on the HTTPS listener, and one on the HTTP listener
that redirects. Takes (dict "root" $ "component" …).
*/}}
{{- define "runledger.httpRoutes" -}}
{{- $way := include "runledger.wayIn" . | fromJson }}
{{- $gateway := $way.gateway }}
{{- if and $gateway.enabled (include "runledger.renders" (dict "root" .root "api" "gateway.networking.k8s.io/v1/HTTPRoute" "setting" (printf "%sgateway.enabled" $way.prefix))) }}
{{- include "runledger.httpRoute.head" (dict "root" .root "way" $way "name" $way.name "listener" $gateway.httpsSectionName) }}
  rules:
    - filters:
        # Only the HTTPS listener leads here. A caller may send a header of its own: replace it.
        - type: RequestHeaderModifier
          requestHeaderModifier:
            set:
              - { name: X-Forwarded-Proto, value: https }
      backendRefs:
        - { name: {{ include "runledger.service.name" . | toYaml }}, port: {{ $way.service.port }} }
{{- if $gateway.httpSectionName }}
---
{{ include "runledger.httpRoute.head" (dict "root" .root "way" $way "name" (printf "%s-redirect" $way.name) "listener" $gateway.httpSectionName) }}
  rules:
    - filters:
        - type: RequestRedirect
          # The same address as in the pods' own redirects, for every Host header.
          requestRedirect:
            scheme: https
            statusCode: 301
            {{- $address := include "runledger.publicUrl" . | trimPrefix "https://" }}
            hostname: {{ regexReplaceAll ":[0-9]+$" $address "" | lower | quote }}
            port: {{ regexFind "[0-9]+$" (regexFind ":[0-9]+$" $address) | default "443" }}
{{- end }}
{{- end }}
{{- end -}}

{{/* An HTTPRoute without its rules. Takes (dict "root" $ "way" wayIn "name" … "listener" …). */}}
{{- define "runledger.httpRoute.head" -}}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ .name | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (dict "root" .root "component" .way.component "annotations" .way.gateway.annotations) | nindent 2 }}
spec:
  parentRefs:
    - {{ toYaml (merge (dict "sectionName" .listener) .way.gateway.parent) | indent 6 | trim }}
  hostnames:
    {{- toYaml .way.gateway.hostnames | nindent 4 }}
{{- end -}}
