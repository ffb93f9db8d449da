package apply_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func TestIntent(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	cases := map[string]struct {
		reason string
		object client.Object
		want   object
	}{
		"Empty": {
			reason: "Nothing is set, so nothing is sent: no status, creationTimestamp, strategy, template.",
			object: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "y", ResourceVersion: "1", Generation: 3}},
			want:   object{},
		},
		"StatusCounters": {
			reason: "Some types serialise the counters of an empty status.",
			object: &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{ServiceName: "s"}},
			want:   object{"spec": object{"serviceName": "s"}},
		},
		"SetPointersAndEmptyLists": {
			reason: "Zero values behind pointers and lists that are not nil are set.",
			object: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
				Replicas: new(int32(0)), Selector: &metav1.LabelSelector{},
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					Tolerations: []corev1.Toleration{},
					Volumes:     []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				}},
			}},
			want: object{"spec": object{"replicas": int64(0), "selector": object{}, "template": object{"spec": object{
				"tolerations": []any{}, "volumes": []any{object{"name": "v", "emptyDir": object{}}},
			}}}},
		},
		"SerialisedScalars": {
			reason: "Scalars that Go serialises are sent, like an empty message.",
			object: &widget.Widget{Status: widget.Status{Conditions: []metav1.Condition{{Type: "Ready", LastTransitionTime: metav1.Unix(0, 0)}}}},
			want: object{"status": object{"conditions": []any{object{
				"type": "Ready", "status": "", "reason": "", "message": "", "lastTransitionTime": "1970-01-01T00:00:00Z",
			}}}},
		},
		"EmptyItems": {
			reason: "An item of a list counts, even if it is empty: it allows everything.",
			object: &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{}}}},
			want:   object{"spec": object{"ingress": []any{object{}}}},
		},
		"Values": {
			reason: "Quantities are canonical, times text, unset alternatives of zero value are left out.",
			object: &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
				{Port: 1, TargetPort: intstr.FromString("web")}, {Port: 2, TargetPort: intstr.FromInt32(8)}, {Port: 3},
			}}},
			want: object{"spec": object{"ports": []any{
				object{"port": int64(1), "targetPort": "web"}, object{"port": int64(2), "targetPort": int64(8)}, object{"port": int64(3)},
			}}},
		},
		"Quantities": {
			reason: "A quantity is sent as the server writes it.",
			object: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{"storage": resource.MustParse("1024Mi")},
			}}},
			want: object{"spec": object{"resources": object{"requests": object{"storage": "1Gi"}}}},
		},
		"StringData": {
			reason: "Write-only data is sent where it can be read, and wins.",
			object: &corev1.Secret{Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}, StringData: map[string]string{"b": "3"}},
			want:   object{"data": object{"a": "MQ==", "b": "Mw=="}},
		},
		"Unstructured": {
			reason: "Nulls and an empty status go, empty maps stay.",
			object: &unstructured.Unstructured{Object: object{
				"apiVersion": "v1", "kind": "X", "status": object{},
				"metadata": object{"name": "x", "creationTimestamp": nil, "labels": object{"a": "b"}},
				"spec":     object{"emptyDir": object{}, "gone": nil, "list": []any{nil, "a"}, "n": 3},
			}},
			want: object{
				"metadata": object{"labels": object{"a": "b"}},
				"spec":     object{"emptyDir": object{}, "list": []any{"a"}, "n": int64(3)},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := apply.Intent(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nIntent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// significant removes what the rules may leave out: nulls and zero values.
func significant(x any) any {
	switch x := x.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range x {
			if v = significant(v); v != nil {
				out[k] = v
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, v := range x {
			out = append(out, significant(v))
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		if x == "" || x == "0" {
			return nil
		}
	case bool:
		if !x {
			return nil
		}
	case int64:
		if x == 0 {
			return nil
		}
	case float64:
		if x == 0 {
			return nil
		}
	}
	return x
}

// FuzzIntent: whatever was decoded into a Go type is encoded like the standard
// converter does, apart from what the rules leave out.
func FuzzIntent(f *testing.F) {
	for _, o := range everydayKinds() {
		data, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range []client.Object{&appsv1.StatefulSet{}, &corev1.Secret{}, &networkingv1.NetworkPolicy{}} {
			if json.Unmarshal(data, o) != nil {
				continue
			}
			if s, ok := o.(*corev1.Secret); ok {
				s.StringData = nil
			}
			want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err != nil {
				continue
			}
			got, err := apply.Intent(o)
			if err != nil {
				t.Fatal(err)
			}
			delete(want, "apiVersion")
			delete(want, "kind")
			if m, ok := want["metadata"].(map[string]any); ok {
				maps.DeleteFunc(m, func(k string, _ any) bool {
					return k != "labels" && k != "annotations" && k != "ownerReferences" && k != "finalizers"
				})
			}
			if diff := cmp.Diff(significant(want), significant(got)); diff != "" {
				t.Errorf("%T (-converter +intent):\n%s", o, diff)
			}
		}
	})
}

func TestHash(t *testing.T) {
	t.Parallel()
	h := apply.NewHashes()
	for i, o := range everydayKinds() {
		if got, want := h.Of(everydayKinds()[i]), h.Of(o); got != want {
			t.Errorf("%T: two equal objects have hashes %x and %x", o, got, want)
		}
	}
	differ := map[string]client.Object{
		"nil":            &appsv1.Deployment{},
		"emptyList":      &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{}}}}},
		"zeroPointer":    &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))}},
		"one":            &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))}},
		"otherField":     &appsv1.Deployment{Spec: appsv1.DeploymentSpec{RevisionHistoryLimit: new(int32(1))}},
		"labels":         &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}},
		"swapped":        &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"b": "a"}}},
		"annotations":    &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}}},
		"unstructured":   &unstructured.Unstructured{Object: map[string]any{"a": "b"}},
		"list":           &unstructured.Unstructured{Object: map[string]any{"a": []any{"b"}}},
		"nested":         &unstructured.Unstructured{Object: map[string]any{"a": []any{[]any{"b"}}}},
		"number":         &unstructured.Unstructured{Object: map[string]any{"a": int64(1)}},
		"fraction":       &unstructured.Unstructured{Object: map[string]any{"a": 1.5}},
		"text":           &unstructured.Unstructured{Object: map[string]any{"a": "1"}},
		"true":           &unstructured.Unstructured{Object: map[string]any{"a": true}},
		"false":          &unstructured.Unstructured{Object: map[string]any{"a": false}},
		"cpu":            withCPU("1"),
		"millicpu":       withCPU("500m"),
		"anotherPattern": withCPU("2"),
	}
	seen := map[uint64]string{}
	for name, o := range differ {
		if other, ok := seen[h.Of(o)]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h.Of(o)] = name
	}
}

func withCPU(q string) client.Object {
	return &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": resource.MustParse(q)}}}
}

func BenchmarkHash(b *testing.B) {
	h := apply.NewHashes()
	o := deployment("x")
	b.ReportAllocs()
	for b.Loop() {
		h.Of(o)
	}
}

func BenchmarkIntent(b *testing.B) {
	o := deployment("x")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apply.Intent(o); err != nil {
			b.Fatal(err)
		}
	}
}
