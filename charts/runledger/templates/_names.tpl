{{/*
Names, namespaces and labels may be digits or `on`, which YAML reads as a number or a boolean: each
goes through toYaml, which quotes those.
*/}}
{{- define "runledger.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/*
Prefix of all names: the release's name, followed by the chart's unless the former contains it. At
most 40 characters, so that suffixes fit.
*/}}
{{- define "runledger.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "runledger.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "runledger.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels for selectors; they never change. Takes (dict "root" $ "component" "ingest"). */}}
{{- define "runledger.selectorLabels" -}}
app.kubernetes.io/name: {{ include "runledger.name" .root | toYaml }}
app.kubernetes.io/instance: {{ .root.Release.Name | toYaml }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/*
The labels and annotations of an object.
Takes (dict "root" $ "component" … "labels" … "annotations" …).
*/}}
{{- define "runledger.meta" -}}
labels:
  {{- $chart := dict "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") "app.kubernetes.io/managed-by" .root.Release.Service }}
  {{- toYaml (merge (include "runledger.labels" . | fromYaml) $chart) | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
The labels of an object and of a pod, without the chart's version: a new one must restart no pod.
"unversioned" true leaves out Runledger's version too, for pods of another image.
Takes (dict "root" $ "component" … "labels" …).
*/}}
{{- define "runledger.labels" -}}
{{- $fixed := dict "app.kubernetes.io/part-of" "runledger" -}}
{{- if not .unversioned -}}{{- $_ := set $fixed "app.kubernetes.io/version" .root.Chart.AppVersion -}}{{- end -}}
{{- toYaml (merge (include "runledger.selectorLabels" . | fromYaml) (.labels | default dict) .root.Values.commonLabels $fixed) -}}
{{- end -}}

{{/* A reference to an image. Takes (dict "root" $ "image" .Values.image "tag" defaultTag). */}}
{{- define "runledger.image" -}}
{{- $repository := .image.repository -}}
{{- with .root.Values.global.imageRegistry -}}
  {{- $parts := splitList "/" $repository -}}
  {{- $first := first $parts -}}
  {{- if and (gt (len $parts) 1) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) -}}
    {{- $repository = join "/" (rest $parts) -}}
  {{- end -}}
  {{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}
{{- end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $repository .image.digest -}}
{{- else -}}
{{- $name := printf "%s:%s" $repository (.image.tag | default .tag | toString) -}}
{{- $digest := get (.root.Files.Get "files/digests.yaml" | fromYaml) $name -}}
{{- /* A mirror may hold another index of the same image. */ -}}
{{- if and $digest (not .root.Values.global.imageRegistry) -}}
{{- printf "%s@%s" $name $digest -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The name of a component's Deployment. Takes (dict "root" $ "component" "ingest"). */}}
{{- define "runledger.component.name" -}}
{{- printf "%s-%s" (include "runledger.fullname" .root) .component -}}
{{- end -}}

{{- define "runledger.redis.name" -}}
{{- printf "%s-redis" (include "runledger.fullname" .) -}}
{{- end -}}

{{- define "runledger.postgresql.name" -}}
{{- printf "%s-postgresql" (include "runledger.fullname" .) -}}
{{- end -}}

{{/* "true" with an archive in S3. */}}
{{- define "runledger.archive.s3" -}}
{{- if hasPrefix "s3:" .Values.archive.url -}}true{{- end -}}
{{- end -}}

{{/* "true" with a witness in S3. */}}
{{- define "runledger.witness.s3" -}}
{{- if contains "s3://" (join " " (.Values.config.ledgerWitnesses | default list)) -}}true{{- end -}}
{{- end -}}

{{- define "runledger.tokens.namespace" -}}
{{- .Values.tokens.namespace | default .Release.Namespace -}}
{{- end -}}

{{/*
Prefix of the names of objects in the tokens namespace: unlike any other release's. Releases of
other namespaces may share it, so their names begin with the release's namespace and a dot. No
namespace and no Service of a release has a dot in its name, so that two prefixes are never equal.
*/}}
{{- define "runledger.tokens.prefix" -}}
{{- if ne (include "runledger.tokens.namespace" .) .Release.Namespace -}}{{ .Release.Namespace }}.{{- end -}}
{{- include "runledger.fullname" . -}}
{{- end -}}

{{/*
The labels of a Secret that tokens.labelSelector selects. The selector's first key names the
organization; every `key=value` in it is a label too. Takes (dict "root" $ "organization" …).
*/}}
{{- define "runledger.tokens.labels" -}}
{{- $labels := dict -}}
{{- range splitList "," .root.Values.tokens.labelSelector -}}
  {{- if regexMatch "^[^=!]+==?[^=]+$" . -}}
    {{- $_ := set $labels (splitList "=" . | first | trim) (splitList "=" . | last | trim) -}}
  {{- end -}}
{{- end -}}
{{- $_ := set $labels (regexFind "[A-Za-z0-9][A-Za-z0-9._/-]*" .root.Values.tokens.labelSelector) .organization -}}
{{- toYaml $labels -}}
{{- end -}}
