image:
  repository: [[ .Repository ]]
  # Default the version of the app.
  tag: [[ .Tag | quote ]]
  # Such as sha256:..., in place of the tag.
  digest: [[ .Digest | quote ]]
  pullPolicy: IfNotPresent
imagePullSecrets: []
# Default the name of the release, followed by that of the chart unless it contains it.
fullnameOverride: ""
# What exists once in a cluster: the CRDs with their conversion, webhooks and further manifests. False leaves these to another release.
crds: true
replicas: 2
[[- if not .Namespaces ]]
# The namespaces to work in, whose permissions are bound there alone; none is all. Two releases must not work in one namespace.
namespaces: []
[[- end ]]
# Arguments of the operator in addition to those of the chart.
args: []
# Variables of the environment in addition to those of the chart, as in a container.
env: []
# Level of the log: debug, info, error, or a number for more detail. Empty is the default of the operator.
logLevel: ""
# The limit fits about 5,000 owners with three children each. The operator's garbage collector observes it.
resources:
  requests:
    cpu: 50m
    memory: 128Mi
  limits:
    memory: 512Mi
priorityClassName: ""
nodeSelector: {}
tolerations: []
affinity: {}
# Default spreads the replicas over nodes where that is possible.
topologySpreadConstraints: []
# Null leaves the user to the image. OpenShift chooses it itself, so that it is left out there.
runAsUser: 65532
# Of the Deployment.
labels: {}
annotations: {}
podLabels: {}
podAnnotations: {}
serviceAccount:
  annotations: {}
# Needs a network plugin that knows policies.
networkPolicy:
  enabled: true
  # What the operator may reach besides DNS and the ports 443 and 6443, as rules of a policy. Null does not restrict it.
[[- if .Egress ]]
  egress:
[[- range .Egress ]]
    - [[ . ]]
[[- end ]]
[[- else if .Restricted ]]
  egress: []
[[- else ]]
  egress: null
[[- end ]]
# These need the Prometheus Operator, and the alerts need the metrics that the ServiceMonitor brings. The labels are for what selects them.
serviceMonitor:
  enabled: false
  labels: {}
prometheusRule:
  enabled: false
  labels: {}
# A ConfigMap for the sidecar of Grafana.
dashboard:
  enabled: false
  labels:
    grafana_dashboard: "1"
