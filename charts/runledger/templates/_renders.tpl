{{/* "true" when an object of an optional API is to be rendered, as renderMode says. Takes (dict "root" $ "api" group/version/Kind "setting" what switched it on). */}}
{{- define "runledger.renders" -}}
{{- if or (eq .root.Values.renderMode "alwaysRender") (.root.Capabilities.APIVersions.Has .api) -}}
true
{{- else if eq .root.Values.renderMode "failIfMissing" -}}
{{- fail (printf "%s=true needs %s, which this cluster does not have. Install its CRD first, or set renderMode=skipIfMissing to go without. With `helm template`, name it: --api-versions %s, or set renderMode=alwaysRender." .setting .api .api) -}}
{{- end -}}
{{- end -}}
