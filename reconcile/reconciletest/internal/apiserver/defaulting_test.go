package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// TestDefaults checks the defaults of one part of each object.
func TestDefaults(t *testing.T) {
	t.Parallel()
	container := []string{"spec", "containers"}
	pod := func(text string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {containers: [` + text + `]}}`
	}
	full := func(image, pull, more string) string {
		return `{at: [{name: c, image: "` + image + `", imagePullPolicy: ` + pull + `, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, resources: {}` + more + `}]}`
	}
	workload := func(version, kind, strategy string) string {
		return `{apiVersion: ` + version + `, kind: ` + kind + `, metadata: {name: a, namespace: default}, spec: {` + strategy +
			`selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {}}}}`
	}
	for name, c := range map[string]struct {
		object string
		path   []string
		want   string
	}{
		"an image with a tag":    {pod(`{name: c, image: registry:5000/web:1}`), container, full("registry:5000/web:1", "IfNotPresent", "")},
		"an image without a tag": {pod(`{name: c, image: registry:5000/web}`), container, full("registry:5000/web", "Always", "")},
		"the latest image":       {pod(`{name: c, image: web:latest}`), container, full("web:latest", "Always", "")},
		"an image by digest":     {pod(`{name: c, image: "web@sha256:1"}`), container, full("web@sha256:1", "IfNotPresent", "")},
		"ports and variables": {
			pod(`{name: c, image: "w:1", ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}], env: [{name: a, value: b}, {name: node, valueFrom: {fieldRef: {fieldPath: x}}}]}`), container,
			full("w:1", "IfNotPresent", `, ports: [{containerPort: 80, protocol: TCP}, {containerPort: 53, protocol: UDP}], env: [{name: a, value: b}, {name: node, valueFrom: {fieldRef: {fieldPath: x, apiVersion: v1}}}]`),
		},
		"probes": {
			pod(`{name: c, image: "w:1", livenessProbe: {httpGet: {port: 80}, timeoutSeconds: 0}, readinessProbe: {periodSeconds: 5, tcpSocket: {port: 1}}}`), container,
			full("w:1", "IfNotPresent", `, livenessProbe: {httpGet: {port: 80, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3},
			  readinessProbe: {periodSeconds: 5, tcpSocket: {port: 1}, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}`),
		},
		"volumes": {
			`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {volumes: [{name: a, configMap: {name: x}}, {name: b, secret: {secretName: x, defaultMode: 256}}, {name: c, emptyDir: {}}]}}`,
			[]string{"spec", "volumes"},
			`{at: [{name: a, configMap: {name: x, defaultMode: 420}}, {name: b, secret: {secretName: x, defaultMode: 256}}, {name: c, emptyDir: {}}]}`,
		},
		"a service account": {
			`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {serviceAccountName: robot, restartPolicy: Never}}`,
			[]string{"spec"},
			`{at: {serviceAccountName: robot, serviceAccount: robot, restartPolicy: Never, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, terminationGracePeriodSeconds: 30, securityContext: {}}}`,
		},
		"a rolling update": {workload("apps/v1", "Deployment", ""), []string{"spec", "strategy"}, `{at: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 25%}}}`},
		"part of a rolling update": {
			workload("apps/v1", "Deployment", "strategy: {rollingUpdate: {maxSurge: 1}}, "), []string{"spec", "strategy"}, `{at: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 1}}}`,
		},
		"no rolling update":                  {workload("apps/v1", "Deployment", "strategy: {type: Recreate}, "), []string{"spec", "strategy"}, `{at: {type: Recreate}}`},
		"rolling update of a StatefulSet":    {workload("apps/v1", "StatefulSet", ""), []string{"spec", "updateStrategy"}, `{at: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}}`},
		"no rolling update of a StatefulSet": {workload("apps/v1", "StatefulSet", "updateStrategy: {type: OnDelete}, "), []string{"spec", "updateStrategy"}, `{at: {type: OnDelete}}`},
		"rolling update of a DaemonSet":      {workload("apps/v1", "DaemonSet", ""), []string{"spec", "updateStrategy"}, `{at: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}}`},
		"status of a Deployment":             {workload("apps/v1", "Deployment", ""), []string{"status"}, `{at: {}}`},
		"pods of a Job": {
			`{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: default}, spec: {template: {spec: {}}}}`, []string{"spec", "template", "spec", "restartPolicy"}, `{at: Never}`,
		},
		"text of a Secret": {
			`{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: default}, data: {x: eQ==, y1: eQ==}, stringData: {x: new}}`, []string{"data"}, `{at: {x: bmV3, y1: eQ==}}`,
		},
		"policies of a NetworkPolicy": {
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: default}, spec: {podSelector: {}, egress: [{ports: [{port: 53}]}]}}`,
			[]string{"spec"},
			`{at: {podSelector: {}, egress: [{ports: [{port: 53, protocol: TCP}]}], policyTypes: [Ingress, Egress]}}`,
		},
		"an autoscaler": {
			`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: default}, spec: {maxReplicas: 3}}`,
			[]string{"spec"},
			`{at: {maxReplicas: 3, minReplicas: 1, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}`,
		},
		"an old autoscaler": {
			`{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: default}, spec: {maxReplicas: 3}}`, []string{"spec"}, `{at: {maxReplicas: 3, minReplicas: 1}}`,
		},
		"subjects": {
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: default}, subjects: [{kind: User, name: u}, {kind: ServiceAccount, name: s}]}`,
			[]string{"subjects"},
			`{at: [{kind: User, name: u, apiGroup: rbac.authorization.k8s.io}, {kind: ServiceAccount, name: s}]}`,
		},
		"a phase": {`{apiVersion: v1, kind: Namespace, metadata: {name: a}}`, []string{"status"}, `{at: {phase: Active}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverWith(t, c.object)
			got, _, err := unstructured.NestedFieldNoCopy(read(t, server.Client, parse(t, c.object)).Object, c.path...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(objects.Integers(parse(t, c.want).Object["at"]), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestServices checks that Services get unique addresses, except those without one, and that a zero target port from a typed client is defaulted.
func TestServices(t *testing.T) {
	t.Parallel()
	server, seen := serverWith(t), map[string]bool{}
	for name, spec := range map[string]corev1.ServiceSpec{
		"one":      {Ports: []corev1.ServicePort{{Port: 80}}},
		"two":      {Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
		"headless": {ClusterIP: "None", Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}},
		"external": {Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"},
	} {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: spec}
		if err := server.Client.Create(t.Context(), service); err != nil {
			t.Fatal(err)
		}
		targets := map[string]string{"one": "80", "two": "8080", "headless": "http"}
		for _, port := range service.Spec.Ports {
			if got := port.TargetPort.String(); got != targets[name] || port.Protocol != corev1.ProtocolTCP {
				t.Errorf("%s: the target is %s %s, want %s", name, port.Protocol, got, targets[name])
			}
		}
		switch ip := service.Spec.ClusterIP; {
		case name == "external" && (ip != "" || service.Spec.ClusterIPs != nil || service.Spec.InternalTrafficPolicy != nil),
			name == "headless" && ip != "None", name != "external" && (seen[ip] || !cmp.Equal(service.Spec.ClusterIPs, []string{ip})):
			t.Errorf("%s has the address %q of %v", name, ip, service.Spec.ClusterIPs)
		default:
			seen[ip] = true
		}
	}
}
