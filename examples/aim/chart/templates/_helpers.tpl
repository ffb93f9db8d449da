{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "aim.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "aim.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "aim.lease" -}}
{{- $name := include "aim.fullname" . -}}
{{- if eq $name .Chart.Name }}aim-engine.aim.eai.amd.com{{ else }}{{ $name }}{{ end -}}
{{- end }}
