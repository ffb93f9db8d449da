package evalhub

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

type tree = map[string]any

// mappings are the variables that override the file, and the fields that they set.
var mappings = tree{ //nolint:gosec // no credentials: the names of files and variables
	"PORT": "service.port", "API_HOST": "service.host", "DISABLE_AUTH": "service.disable_auth",
	"TLS_CERT_FILE": "service.tls_cert_file", "TLS_KEY_FILE": "service.tls_key_file", "DB_URL": "database.url",
	"MLFLOW_TRACKING_URI": "mlflow.tracking_uri", "MLFLOW_CA_CERT_PATH": "mlflow.ca_cert_path",
	"MLFLOW_INSECURE_SKIP_VERIFY": "mlflow.insecure_skip_verify", "MLFLOW_TOKEN_PATH": "mlflow.token_path",
	"MLFLOW_WORKSPACE": "mlflow.workspace",
}

// configOf returns the configuration of the server.
func configOf(hub *v1.EvalHub, image string) (string, error) {
	config := tree{
		"service": tree{
			"port": serverPort, "disable_auth": true, "termination_file": "/tmp/termination-log", "eval_init_image": image,
		},
		"env_mappings": mappings,
		"database":     tree{"driver": "sqlite", "url": "file::eval_hub:?mode=memory&cache=shared"},
		"prometheus":   tree{"enabled": true},
		"sidecar": tree{
			"base_url": "http://localhost:8080", "eval_hub": tree{"http_timeout": int64(30 * time.Second)},
			"sidecar_container": tree{"image": image, "resources": tree{
				"requests": tree{"cpu": "200m", "memory": "512Mi"}, "limits": tree{"cpu": "500m", "memory": "2Gi"},
			}},
		},
	}
	if db := hub.Spec.Database; db.Type == postgresql {
		config["database"] = tree{
			"driver": "pgx", "max_open_conns": ptr.Deref(db.MaxOpenConns, 25), "max_idle_conns": ptr.Deref(db.MaxIdleConns, 5),
		}
		config["secrets"] = tree{"dir": "/etc/evalhub/secrets", "mappings": tree{"db-url": "database.url"}}
	}
	if hub.Spec.OTel != nil {
		telemetry, err := telemetryOf(hub.Spec.OTel)
		if err != nil {
			return "", err
		}
		config["otel"] = telemetry
	}
	text, err := yaml.Marshal(config)
	return string(text), err
}

// telemetryOf returns the section of OpenTelemetry. It leaves out unset fields.
func telemetryOf(t *v1.Telemetry) (tree, error) {
	out := tree{"enabled": true}
	if ptr.Deref(t.EnableJobContainerLogs, false) && !ptr.Deref(t.EnableLogs, false) {
		return nil, errors.New("enableJobContainerLogs requires enableLogs to be true")
	}
	for key, value := range map[string]string{
		"exporter_type": t.ExporterType, "exporter_endpoint": t.ExporterEndpoint, "service_name": t.ServiceName,
	} {
		if value != "" {
			out[key] = value
		}
	}
	for key, value := range map[string]*bool{
		"exporter_insecure": t.ExporterInsecure, "enable_tracing": t.EnableTracing, "enable_metrics": t.EnableMetrics,
		"enable_logs":               t.EnableLogs,
		"enable_job_container_logs": t.EnableJobContainerLogs, "enable_ecs_resource_detection": t.EnableEcsResourceDetection,
		"disable_redirect_otel_logs": t.DisableRedirectOtelLogs, "disable_database_otel_scan": t.DisableDatabaseOtelScans,
	} {
		if value != nil {
			out[key] = *value
		}
	}
	if t.SamplingRatio != "" {
		ratio, err := strconv.ParseFloat(t.SamplingRatio, 64)
		if err != nil {
			return nil, fmt.Errorf("invalid samplingRatio %q: %w", t.SamplingRatio, err)
		}
		out["sampling_ratio"] = ratio
	}
	for _, d := range []struct {
		field, key string
		value      v1.Duration
	}{
		{"tracerTimeout", "tracer_timeout", t.TracerTimeout},
		{"tracerBatchInterval", "tracer_batch_interval", t.TracerBatchInterval},
		{"metricExportInterval", "metric_export_interval", t.MetricExportInterval},
	} {
		if d.value == "" {
			continue
		}
		parsed, err := time.ParseDuration(string(d.value))
		if err == nil && parsed < 0 {
			err = errors.New("must not be negative")
		}
		if err != nil {
			return nil, fmt.Errorf("invalid %s %q: %w", d.field, d.value, err)
		}
		out[d.key] = int64(parsed)
	}
	return out, nil
}

// authorized is the permission that a client needs for methods of a path.
type authorized struct {
	path  string
	rules []authorizedRule
}

type authorizedRule struct {
	methods               []string
	group, resource, verb string
}

// endpoints returns the paths of the server.
func endpoints() []authorized {
	const root, same = "/api/v1/evaluations/", "{{.FromMethod}}"
	one := func(resource string) authorizedRule {
		return authorizedRule{[]string{"get", "delete", "put", "patch"}, group, resource, same}
	}
	list := func(resource string) authorizedRule { return authorizedRule{[]string{"get"}, group, resource, "list"} }
	create := func(group, resource, verb string) authorizedRule {
		return authorizedRule{[]string{"post"}, group, resource, verb}
	}
	return []authorized{
		{root + "jobs/*/events", []authorizedRule{create(group, "status-events", "create")}},
		{root + "jobs/*", []authorizedRule{one("evaluations")}},
		{root + "jobs", []authorizedRule{
			list("evaluations"), create(group, "evaluations", "create"), create(mlflowGroup, "experiments", "create"),
			create(mlflowGroup, "experiments", "get"),
		}},
		{root + "collections/*", []authorizedRule{one("collections")}},
		{root + "collections", []authorizedRule{list("collections"), create(group, "collections", "create")}},
		{root + "providers/*", []authorizedRule{one("providers")}},
		{root + "providers", []authorizedRule{list("providers"), create(group, "providers", "create")}},
	}
}

// authOf returns the configuration of the proxy in front of the server. The header of the tenant names the namespace.
func authOf() (string, error) {
	var paths []any
	for _, e := range endpoints() {
		var rules []any
		for _, r := range e.rules {
			rules = append(rules, tree{"methods": r.methods, "resources": []any{tree{
				"rewrites":           tree{"byHttpHeader": tree{"name": "X-Tenant"}},
				"resourceAttributes": tree{"namespace": "{{.FromHeader}}", "apiGroup": r.group, "resource": r.resource, "verb": r.verb},
			}}})
		}
		paths = append(paths, tree{"path": e.path, "mappings": rules})
	}
	return marshalAuth(paths)
}

func marshalAuth(paths []any) (string, error) {
	text, err := yaml.Marshal(tree{"authorization": tree{"endpoints": paths}})
	return string(text), err
}
