{{ include "[[ .Chart ]].fullname" . }} runs in the namespace {{ .Release.Namespace }}.

  kubectl -n {{ .Release.Namespace }} rollout status deployment/[[ .Name ]]
[[- range .Kinds ]][[ if .Reasons ]]

The roles edit and admin do not include [[ .Resource ]].[[ .Group ]]. Bind [[ $.Name ]]-[[ .Resource ]]-editor to the accounts that may create them.
[[- end ]][[ end ]]

Roles to bind: [[ .Name ]]-metrics-reader for metrics, [[ .Name ]]-explainer for explanations of owners,
[[ .Name ]]-log-level to change the level of the log. The role [[ .Name ]]-kubectl in this namespace is for users of kubectl reconcilekit explain.
{{- if .Values.crds }}
The CRDs stay when the release is uninstalled. A release of another name or namespace takes them with --take-ownership.
{{- else }}
The CRDs and webhooks are those of another release.
{{- end }}
