package apiserver

import (
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// setDefaults sets the API server's defaults of common kinds. The conformance test compares the result with that of a real server.
func (t *tracker) setDefaults(u *unstructured.Unstructured) {
	gvk := u.GroupVersionKind()
	if schema := t.schemas[gvk]; schema != nil {
		schema.Complete(u.Object)
		return
	}
	spec, _ := u.Object["spec"].(map[string]any)
	switch gvk.Group + "/" + gvk.Kind {
	case "/Secret":
		defaultSecret(u.Object)
	case "/Service":
		t.defaultService(spec)
	case "/Pod":
		defaultPod(spec)
	case "/PersistentVolumeClaim":
		defaults(spec, "volumeMode", "Filesystem")
	case "/Namespace":
		u.Object["status"] = map[string]any{"phase": "Active"}
	case "apps/Deployment":
		defaults(spec, "replicas", int64(1), "revisionHistoryLimit", int64(10), "progressDeadlineSeconds", int64(600))
		rolling := defaultMap(spec, "strategy", "type", "RollingUpdate")
		if rolling["type"] == "RollingUpdate" {
			defaultMap(rolling, "rollingUpdate", "maxUnavailable", "25%", "maxSurge", "25%")
		}
		defaultTemplate(spec, "Always")
	case "apps/StatefulSet":
		defaults(spec, "replicas", int64(1), "revisionHistoryLimit", int64(10), "podManagementPolicy", "OrderedReady")
		rolling := defaultMap(spec, "updateStrategy", "type", "RollingUpdate")
		if rolling["type"] == "RollingUpdate" {
			defaultMap(rolling, "rollingUpdate", "partition", int64(0), "maxUnavailable", int64(1))
		}
		defaultMap(spec, "persistentVolumeClaimRetentionPolicy", "whenDeleted", "Retain", "whenScaled", "Retain")
		defaultTemplate(spec, "Always")
	case "apps/DaemonSet":
		defaults(spec, "revisionHistoryLimit", int64(10))
		rolling := defaultMap(spec, "updateStrategy", "type", "RollingUpdate")
		if rolling["type"] == "RollingUpdate" {
			defaultMap(rolling, "rollingUpdate", "maxUnavailable", int64(1), "maxSurge", int64(0))
		}
		defaultTemplate(spec, "Always")
	case "batch/Job":
		defaults(spec, "parallelism", int64(1), "completions", int64(1), "backoffLimit", int64(6),
			"completionMode", "NonIndexed", "suspend", false, "podReplacementPolicy", "TerminatingOrFailed")
		defaultTemplate(spec, "Never")
	case "networking.k8s.io/NetworkPolicy":
		defaultNetworkPolicy(spec)
	case "autoscaling/HorizontalPodAutoscaler":
		defaultAutoscaler(gvk.Version, spec)
	case "rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding":
		defaultSubjects(u.Object)
	}
}

func defaultSecret(object map[string]any) {
	defaults(object, "type", "Opaque")
	plain, ok := object["stringData"].(map[string]any)
	if !ok {
		return
	}
	data, _ := object["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range plain {
		data[key] = base64.StdEncoding.EncodeToString(fmt.Append(nil, value))
	}
	object["data"] = data
	delete(object, "stringData")
}

func (t *tracker) defaultService(spec map[string]any) {
	defaults(spec, "type", "ClusterIP", "sessionAffinity", "None")
	for _, port := range objects.Maps(spec, "ports") {
		defaults(port, "protocol", "TCP")
		zeroDefaults(port, "targetPort", port["port"])
	}
	if spec["type"] == "ExternalName" {
		return
	}
	defaults(spec, "internalTrafficPolicy", "Cluster")
	if _, set := spec["clusterIP"]; !set && spec != nil {
		t.addresses++
		spec["clusterIP"] = fmt.Sprintf("10.0.%d.%d", t.addresses/250, t.addresses%250+1)
	}
	defaults(spec, "clusterIPs", []any{spec["clusterIP"]}, "ipFamilies", []any{"IPv4"}, "ipFamilyPolicy", "SingleStack")
}

// firstStatus returns the status that the server sets on a new object of a built-in kind, nil for none.
func firstStatus(gvk schema.GroupVersionKind) map[string]any {
	zeros := func(fields ...string) map[string]any {
		out := map[string]any{}
		for _, field := range fields {
			out[field] = int64(0)
		}
		return out
	}
	switch gvk.Group + "/" + gvk.Kind {
	case "apps/Deployment", "batch/Job", "batch/CronJob":
		return map[string]any{}
	case "apps/StatefulSet":
		return zeros("replicas", "availableReplicas")
	case "apps/DaemonSet":
		return zeros("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")
	case "policy/PodDisruptionBudget":
		return zeros("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
	case "autoscaling/HorizontalPodAutoscaler":
		return zeros("desiredReplicas")
	case "/Service", "networking.k8s.io/Ingress":
		return map[string]any{"loadBalancer": map[string]any{}}
	case "/PersistentVolumeClaim":
		return map[string]any{"phase": "Pending"}
	}
	return nil
}

func defaultNetworkPolicy(spec map[string]any) {
	if spec == nil {
		return
	}
	types := []any{"Ingress"}
	if _, egress := spec["egress"]; egress {
		types = append(types, "Egress")
	}
	defaults(spec, "policyTypes", types)
	for _, rule := range append(objects.Maps(spec, "ingress"), objects.Maps(spec, "egress")...) {
		for _, port := range objects.Maps(rule, "ports") {
			defaults(port, "protocol", "TCP")
		}
	}
}

func defaultAutoscaler(version string, spec map[string]any) {
	defaults(spec, "minReplicas", int64(1))
	if version == "v1" {
		return
	}
	defaults(spec, "metrics", []any{map[string]any{"type": "Resource", "resource": map[string]any{
		"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(80)},
	}}})
}

func defaultSubjects(object map[string]any) {
	for _, subject := range objects.Maps(object, "subjects") {
		if subject["kind"] == "User" || subject["kind"] == "Group" {
			defaults(subject, "apiGroup", "rbac.authorization.k8s.io")
		}
	}
}

func defaultTemplate(spec map[string]any, restart string) {
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	if restart != "Always" {
		defaults(pod, "restartPolicy", restart)
	}
	defaultPod(pod)
}

func defaultPod(pod map[string]any) {
	defaults(pod, "restartPolicy", "Always", "dnsPolicy", "ClusterFirst", "schedulerName", "default-scheduler",
		"terminationGracePeriodSeconds", int64(30), "securityContext", map[string]any{})
	if account, set := pod["serviceAccountName"]; set {
		defaults(pod, "serviceAccount", account)
	}
	for _, list := range []string{"containers", "initContainers"} {
		for _, container := range objects.Maps(pod, list) {
			defaultContainer(container)
		}
	}
	for _, volume := range objects.Maps(pod, "volumes") {
		for _, source := range []string{"configMap", "secret", "projected", "downwardAPI"} {
			if content, ok := volume[source].(map[string]any); ok {
				defaults(content, "defaultMode", int64(420))
			}
		}
	}
}

func defaultContainer(container map[string]any) {
	image, _ := container["image"].(string)
	pull := "IfNotPresent"
	if name := image[strings.LastIndex(image, "/")+1:]; !strings.ContainsAny(name, ":@") || strings.HasSuffix(name, ":latest") {
		pull = "Always"
	}
	defaults(container, "terminationMessagePath", "/dev/termination-log", "terminationMessagePolicy", "File",
		"imagePullPolicy", pull, "resources", map[string]any{})
	for _, port := range objects.Maps(container, "ports") {
		defaults(port, "protocol", "TCP")
	}
	for _, env := range objects.Maps(container, "env") {
		from, _ := env["valueFrom"].(map[string]any)
		if field, ok := from["fieldRef"].(map[string]any); ok {
			defaults(field, "apiVersion", "v1")
		}
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, ok := container[name].(map[string]any)
		if !ok {
			continue
		}
		zeroDefaults(probe, "timeoutSeconds", int64(1), "periodSeconds", int64(10), "successThreshold", int64(1),
			"failureThreshold", int64(3))
		if get, ok := probe["httpGet"].(map[string]any); ok {
			defaults(get, "path", "/", "scheme", "HTTP")
		}
	}
}

// defaults sets missing keys to the values of the pairs; a nil map stays nil.
func defaults(m map[string]any, pairs ...any) {
	if m == nil {
		return
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		if current, set := m[key]; !set || current == nil || current == "" {
			m[key] = pairs[i+1]
		}
	}
}

// zeroDefaults is defaults for fields for which the API server treats zero as unset, because typed clients send it.
func zeroDefaults(m map[string]any, pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		if current := m[key]; current == int64(0) || current == float64(0) {
			delete(m, key)
		}
	}
	defaults(m, pairs...)
}

// defaultMap is defaults for a map below m, which is created if it is missing.
func defaultMap(m map[string]any, key string, pairs ...any) map[string]any {
	if m == nil {
		return nil
	}
	below, ok := m[key].(map[string]any)
	if !ok {
		below = map[string]any{}
		m[key] = below
	}
	defaults(below, pairs...)
	return below
}
