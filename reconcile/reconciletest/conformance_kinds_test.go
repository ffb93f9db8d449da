package reconciletest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// kindSequences creates one object of each common kind and compares the results: the defaults, and whether
// the kind has a generation and a status subresource.
func kindSequences() []conformance {
	const template = `template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}],
  env: [{name: E, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], livenessProbe: {httpGet: {port: 80}},
  readinessProbe: {httpGet: {port: 80}, timeoutSeconds: 0, periodSeconds: 0, successThreshold: 0, failureThreshold: 0},
  volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, configMap: {name: a}}], serviceAccountName: s}}`
	kinds := map[string]string{
		"ConfigMap":      configMap,
		"Widget":         aWidget,
		"Secret":         `{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {k: v}, data: {l: dw==}}`,
		"Service":        `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {a: b}, ports: [{name: first, port: 80}, {name: second, port: 81, targetPort: web}, {name: zero, port: 82, targetPort: 0}]}}`,
		"ServiceAccount": `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}`,
		"PersistentVolumeClaim": `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a},
  spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
		"Deployment":  `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, ` + template + `}}`,
		"StatefulSet": `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, selector: {matchLabels: {a: b}}, ` + template + `}}`,
		"DaemonSet":   `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, ` + template + `}}`,
		"Role":        `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
		"RoleBinding": `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}, subjects: [{kind: ServiceAccount, name: s, namespace: elsewhere}, {kind: User, name: u}]}`,
		"NetworkPolicy":       `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}}`,
		"Ingress":             `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}}`,
		"PodDisruptionBudget": `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}}`,
		"HorizontalPodAutoscaler": `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a},
  spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}}`,
		"Lease": `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}, spec: {holderIdentity: me}}`,
	}
	known := map[string][]difference{
		"PersistentVolumeClaim": {{fake: "update without a change: ok; same version", real: "update without a change: ok; new version"}},
	}
	var baselines []conformance
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		baselines = append(baselines, conformance{name: "kind " + kind, known: known[kind], sequence: func(ctx context.Context, w *recorder) {
			u := w.object(kinds[kind])
			live := w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			if live == nil {
				return
			}
			w.leaves("", live.Object)
			live = w.does(ctx, "update without a change", u, func() error { return w.Update(ctx, live.DeepCopy(), writer) })
			w.does(ctx, "add a label", u, func() error { return w.Update(ctx, set(live, "y", "metadata", "labels", "x"), writer) })
		}})
	}
	return baselines
}

// leaves returns one line for each scalar of an object, without the metadata that all objects have.
func (w *recorder) leaves(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			w.log("%s: {}", path)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if path == "" && slices.Contains([]string{"metadata", "apiVersion", "kind"}, key) {
				continue
			}
			w.leaves(path+"."+key, v[key])
		}
	case []any:
		if len(v) == 0 {
			w.log("%s: []", path)
		}
		for i := range v {
			w.leaves(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	case nil: // the fake API server does not store null
	default:
		if path == ".spec.clusterIP" || path == ".spec.clusterIPs[0]" { // from the server's range of addresses
			v = "assigned"
		}
		w.log("%s: %v", path, v)
	}
}
