package content_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
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
				"spec":     object{"emptyDir": object{}, "gone": nil, "list": []any{"a"}, "n": 3},
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
			got, err := content.NewEncoder().Intent(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			content.StripIdentity(got)
			if _, secret := tc.object.(*corev1.Secret); secret {
				content.MergeStringData(got)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nIntent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNullInList checks that a null in a list is an error with its path, as no item of a list can be left out.
func TestNullInList(t *testing.T) {
	t.Parallel()
	for name, planned := range map[string]any{
		"unstructured": &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"list": []any{"a", nil}}}},
		"Go type": &struct {
			Spec struct {
				List []*string `json:"list"`
			} `json:"spec"`
		}{Spec: struct {
			List []*string `json:"list"`
		}{List: []*string{new("a"), nil}}},
	} {
		const want = "spec: list: 1: an item of a list is null, want a value"
		if _, err := content.NewEncoder().Intent(planned); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}
