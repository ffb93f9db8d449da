package tas

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPayloads checks that the entries of a service are added once and are removed completely with the service, while
// other entries are added, kept and removed.
func TestPayloads(t *testing.T) {
	t.Parallel()
	const one, two = "https://one.ns.svc/consumer/kserve/v2", "https://two.ns.svc/consumer/kserve/v2"
	for name, c := range map[string]struct {
		env   []corev1.EnvVar
		first string // value with the address of the first service
		both  string
	}{
		"nothing": {nil, one, one + " " + two},
		"of others": {
			[]corev1.EnvVar{{Name: "A", Value: "1"}, {Name: processors, Value: "http://user"}},
			"http://user " + one,
			"http://user " + one + " " + two,
		},
		"in another spelling": {
			[]corev1.EnvVar{{Name: processors, Value: "http://a  http://b"}},
			"http://a  http://b " + one,
			"http://a  http://b " + one + " " + two,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := meshOf(c.env)
			d := before.DeepCopy()
			expect := func(want string) {
				t.Helper()
				if got := d.Spec.Template.Spec.Containers[0].Env[find(d.Spec.Template.Spec.Containers[0].Env, processors)].Value; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			addPayloads(d, "one")
			once := d.DeepCopy()
			addPayloads(d, "one")
			if diff := cmp.Diff(once, d); diff != "" {
				t.Errorf("a second call changes: %s", diff)
			}
			expect(c.first)
			addPayloads(d, "two")
			expect(c.both)
			removePayloads(d, "two")
			expect(c.first)
			if got := d.Spec.Template.Spec.Volumes; len(got) != 1 || got[0].Name != "one-internal" {
				t.Errorf("volumes: %v", got)
			}
			addPayloads(d, "two")
			removePayloads(d, "one")
			addPayloads(d, "two") // the service now has its own certificate
			if got := d.Spec.Template.Spec; len(got.Volumes) != 1 || got.Volumes[0].Name != "two-internal" || got.Containers[0].VolumeMounts[0].Name != "two-internal" {
				t.Errorf("volumes: %v", got.Volumes)
			}
			removePayloads(d, "two")
			removePayloads(d, "two")
			if diff := cmp.Diff(before.Spec.Template.Spec.String(), d.Spec.Template.Spec.String()); diff != "" {
				t.Errorf("not removed: %s", diff)
			}
		})
	}
}

// TestForeignPayloads checks that values of an unexpected form and additional values of a user are kept.
func TestForeignPayloads(t *testing.T) {
	t.Parallel()
	from := &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "k"}}
	d := meshOf([]corev1.EnvVar{{Name: processors, ValueFrom: from}, {Name: certificate, Value: "/mine"}})
	d.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "mine", MountPath: tlsPath}}
	before := d.DeepCopy()
	addPayloads(d, "one")
	if diff := cmp.Diff(before.Spec.Template.Spec.Containers[0], d.Spec.Template.Spec.Containers[0]); diff != "" || !elsewhere(d.Spec.Template.Spec.Containers[0]) {
		t.Errorf("a foreign field changed: %s", diff)
	}
	removePayloads(d, "one")
	if diff := cmp.Diff(before.Spec.Template.Spec.String(), d.Spec.Template.Spec.String()); diff != "" {
		t.Errorf("not removed: %s", diff)
	}
}

func meshOf(env []corev1.EnvVar) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mesh"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "mm", Env: env}, {Name: "other"}}
	return d
}
