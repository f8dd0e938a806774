{{/* The variable that adds caBundle to the CAs that Node trusts; nothing without a bundle. */}}
{{- define "runledger.caBundle.env" -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/runledger/ca/{{ .Values.caBundle.key }}
{{- end }}
{{- end -}}

{{/*
The volume of caBundle; nothing without a bundle. It holds the one key only: the Secret of an
authority may hold its private key too.
*/}}
{{- define "runledger.caBundle.volume" -}}
{{- $key := toYaml .Values.caBundle.key -}}
{{- $items := printf "items: [{ key: %s, path: %s }]" $key $key -}}
{{- with .Values.caBundle.configMap -}}
- { name: ca, configMap: { name: {{ . | toYaml }}, {{ $items }} } }
{{- end -}}
{{- with .Values.caBundle.secret -}}
- { name: ca, secret: { secretName: {{ . | toYaml }}, {{ $items }} } }
{{- end -}}
{{- end -}}
