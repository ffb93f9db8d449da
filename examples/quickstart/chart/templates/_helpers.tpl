{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "quickstart.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "quickstart.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "quickstart.lease" -}}
{{- $name := include "quickstart.fullname" . -}}
{{- if eq $name .Chart.Name }}quickstart.example.com{{ else }}{{ $name }}{{ end -}}
{{- end }}
