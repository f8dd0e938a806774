{{/*
"true" when the chart renders an object of an optional API; renderMode decides.
Takes (dict "root" $ "api" "group/version/Kind" "setting" "the value that enables it").
*/}}
{{- define "runledger.renders" -}}
{{- if or (eq .root.Values.renderMode "alwaysRender") (.root.Capabilities.APIVersions.Has .api) -}}
true
{{- else if eq .root.Values.renderMode "failIfMissing" -}}
{{- fail (printf "%s=true needs %s, which this cluster does not have. Install its CRD first, or set renderMode=skipIfMissing to skip the object. With `helm template`, pass --api-versions %s or set renderMode=alwaysRender." .setting .api .api) -}}
{{- end -}}
{{- end -}}
