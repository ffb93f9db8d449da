{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "modelmesh-controller.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "modelmesh-controller.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "modelmesh-controller.lease" -}}
{{- $name := include "modelmesh-controller.fullname" . -}}
{{- if eq $name .Chart.Name }}modelmesh-controller-leader-lock{{ else }}{{ $name }}{{ end -}}
{{- end }}
