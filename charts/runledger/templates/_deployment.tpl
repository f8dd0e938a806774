{{/*
The Deployment of a process. Ingest and console watch the organizations' Secrets, and the controller
its resources, with an account of their own; `migration` is the worker's first init container as
YAML.
Takes (dict "root" $ "component" "ingest" "values" .Values.ingest "scaled" … "migration" …).
*/}}
{{- define "runledger.deployment" -}}
{{- $values := .values -}}
{{- $name := include "runledger.component.name" . -}}
{{- $hasAccount := hasKey $values "serviceAccount" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (pick . "root" "component") | nindent 2 }}
spec:
  {{- if not (or (dig "autoscaling" "enabled" false $values) .scaled) }}
  replicas: {{ $values.replicaCount }}
  {{- end }}
  revisionHistoryLimit: 3
  {{- with $values.progressDeadlineSeconds }}
  progressDeadlineSeconds: {{ int . }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
  strategy:
    {{- include "runledger.strategy" $values.strategy | nindent 4 }}
  template:
    metadata:
      labels:
        {{- include "runledger.labels" (dict "root" .root "component" .component "labels" $values.podLabels) | nindent 8 }}
        # PodMonitor and metrics Service select this label.
        runledger.dev/metrics: 'true'
      {{- with merge (dict) $values.podAnnotations .root.Values.commonAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- with include "runledger.serviceAccount.name" . }}
      serviceAccountName: {{ . | toYaml }}
      {{- end }}
      automountServiceAccountToken: {{ $hasAccount }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
      {{- with include "runledger.pullSecrets" .root | trim }}{{ . | nindent 6 }}{{- end }}
      securityContext:
        {{- include "runledger.podSecurity" .root.Values.podSecurityContext | nindent 8 }}
      {{- with include "runledger.scheduling" . | trim }}{{ . | nindent 6 }}{{- end }}
      {{- if or $values.initContainers .migration }}
      initContainers:
        {{- with $values.initContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with .migration }}{{ . | nindent 8 }}{{- end }}
      {{- end }}
      containers:
        - name: {{ .component }}
          {{- include "runledger.program" . | nindent 10 }}
          ports:
            {{- if include "runledger.wayIn" . | fromJson }}
            - { name: http, containerPort: 8080 }
            {{- end }}
            {{- if include "runledger.podTls" . }}
            - { name: https, containerPort: 8443 }
            {{- end }}
            - { name: ops, containerPort: 9090 }
          startupProbe:
            httpGet: { path: /healthz, port: ops }
            {{- with omit $values.startupProbe "httpGet" }}{{ toYaml . | nindent 12 }}{{- end }}
          livenessProbe:
            httpGet: { path: /healthz, port: ops }
            {{- with omit $values.livenessProbe "httpGet" }}{{ toYaml . | nindent 12 }}{{- end }}
          readinessProbe:
            httpGet: { path: /readyz, port: ops }
            {{- with omit $values.readinessProbe "httpGet" }}{{ toYaml . | nindent 12 }}{{- end }}
          {{- if hasKey $values "preStopSeconds" }}
          lifecycle:
            preStop:
              exec: { command: [sleep, '{{ $values.preStopSeconds }}'] }
          {{- end }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
      volumes:
        - { name: tmp, emptyDir: { sizeLimit: 64Mi } }
        {{- with include "runledger.caBundle.volume" .root }}{{ . | nindent 8 }}{{- end }}
        {{- with include "runledger.secrets.volume" (dict "root" .root "programs" (empty .migration | ternary (list .component) (list .component "migrate"))) }}{{ . | nindent 8 }}{{- end }}
        {{- if include "runledger.podTls" . }}
        - { name: tls, secret: { secretName: {{ include "runledger.tlsSecret" . | toYaml }} } }
        {{- end }}
        {{- with $values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end -}}

{{/*
The fields of a container that its image, its environment and its files take. `program` is the
command, unless it is the component's. `nodeOptions` are options of Node beside those of the image,
`arguments` those of the command.
Takes (dict "root" $ "component" "worker" "values" .Values.worker "program" "migrate").
*/}}
{{- define "runledger.program" -}}
{{- $program := .program | default .component -}}
image: {{ include "runledger.image" (dict "root" .root "image" .root.Values.image "tag" .root.Chart.AppVersion) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- $main := has $program (list "migrate" "export") | ternary (list "cmd/admin/main.ts" $program) (list (printf "cmd/%s/main.ts" $program)) }}
args: [{{ concat (.nodeOptions | default list) $main (.arguments | default list) | join ", " }}]
env:
  {{- include "runledger.secrets.env" (dict "root" .root "program" $program) | trim | nindent 2 }}
  {{- with .values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "runledger.containerSecurity" . | nindent 2 }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if include "runledger.caBundle.volume" .root }}
  - { name: ca, mountPath: /etc/runledger/ca, readOnly: true }
  {{- end }}
  {{- with include "runledger.secrets.mount" (dict "root" .root "programs" (list $program)) }}{{ . | nindent 2 }}{{- end }}
  {{- if include "runledger.podTls" . }}
  - { name: tls, mountPath: /etc/runledger/tls, readOnly: true }
  {{- end }}
  {{- with .values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/*
The update strategy. Kubernetes accepts no rollingUpdate beside Recreate.
Takes .Values.ingest.strategy.
*/}}
{{- define "runledger.strategy" -}}
{{- toYaml (eq .type "RollingUpdate" | ternary . (omit . "rollingUpdate")) -}}
{{- end -}}
