{{/* The settings of Redis: it fsyncs every event before the 201, and rejects writes when full. */}}
{{- define "runledger.redis.config" -}}
dir /data
save ""
appendonly yes
appendfsync always
no-appendfsync-on-rewrite no
maxmemory-policy noeviction
maxmemory {{ div (mul (int64 (include "runledger.bytes" .Values.redis.resources.limits.memory)) 60) 100 }}
tcp-keepalive 60
{{- end -}}
