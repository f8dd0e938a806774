{{/*
The fields of a pod that choose its node and its runtime.
Takes (dict "root" $ "values" .Values.ingest "component" "ingest").
*/}}
{{- define "runledger.scheduling" -}}
{{- with .values.runtimeClassName }}
runtimeClassName: {{ . | toYaml }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | toYaml }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- $selector := dict "labelSelector" (dict "matchLabels" (include "runledger.selectorLabels" . | fromYaml)) }}
  {{- range .values.topologySpreadConstraints }}
  - {{ toYaml (merge (dict) . $selector) | indent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}
