{{/*
The number of pods. The old name `replicas` wins, since only a user sets it.
Takes .Values.ingest or .Values.worker.
*/}}
{{- define "runledger.replicas" -}}
{{- hasKey . "replicas" | ternary .replicas .replicaCount -}}
{{- end -}}

{{/*
The update strategy. Kubernetes accepts no rollingUpdate beside Recreate.
Takes .Values.ingest.strategy.
*/}}
{{- define "runledger.strategy" -}}
{{- toYaml (eq .type "RollingUpdate" | ternary . (omit . "rollingUpdate")) -}}
{{- end -}}

{{/* "true" when a HorizontalPodAutoscaler or KEDA sets the number of workers. */}}
{{- define "runledger.worker.scaled" -}}
{{- if .Values.worker.autoscaling.enabled -}}true
{{- else if .Values.worker.keda.enabled -}}{{ include "runledger.renders" (dict "root" . "api" "keda.sh/v1alpha1/ScaledObject" "setting" "worker.keda.enabled") }}
{{- end -}}
{{- end -}}

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
{{- $items := printf "items: [{ key: %s, path: %s }]" .Values.caBundle.key .Values.caBundle.key -}}
{{- with .Values.caBundle.configMap -}}
- { name: ca, configMap: { name: {{ . }}, {{ $items }} } }
{{- end -}}
{{- with .Values.caBundle.secret -}}
- { name: ca, secret: { secretName: {{ . }}, {{ $items }} } }
{{- end -}}
{{- end -}}
