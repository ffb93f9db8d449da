package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// writtenDeployment has values that the Go type of the kind omits.
const writtenDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      hostNetwork: false
      volumes: [{name: v, emptyDir: {}}]
      containers:
      - name: app
        image: example.com/app:1
        env: [{name: A, value: ""}]
        volumeMounts: [{name: v, mountPath: /v, readOnly: false}]
`

var _ = Describe("A planned manifest", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	planned := func() apply.Plan {
		GinkgoHelper()
		objects, err := manifests.Objects("app.yaml", writtenDeployment, scheme)
		Expect(err).NotTo(HaveOccurred())
		var p apply.Plan
		for _, object := range objects {
			object.SetNamespace(w.namespace)
			p.Apply(object, apply.AdoptUncontrolled)
		}
		return p
	}
	stored := func() *appsv1.Deployment {
		GinkgoHelper()
		d := &appsv1.Deployment{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "app"}, d)).To(Succeed())
		return d
	}
	expectWritten := func() {
		GinkgoHelper()
		pod := stored().Spec.Template.Spec
		Expect(pod.HostNetwork).To(BeFalse())
		Expect(pod.Containers[0].Env).To(Equal([]corev1.EnvVar{{Name: "A"}}))
		Expect(pod.Containers[0].VolumeMounts[0].ReadOnly).To(BeFalse())
	}

	It("repairs an adopted object whose manifest contains false and an empty string", func() {
		Expect(w.admin.Create(w.ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "app"},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}}, Spec: corev1.PodSpec{
					HostNetwork: true,
					Volumes:     []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					Containers: []corev1.Container{{
						Name: "app", Image: "example.com/app:1", Env: []corev1.EnvVar{{Name: "A", Value: "x"}},
						VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v", ReadOnly: true}},
					}},
				}},
			},
		})).To(Succeed())
		w.syncedObject(stored())
		w.converge(planned)
		expectWritten()
	})

	It("repairs drift of the values, and is not written in steady state", func() {
		w.converge(planned)
		w.edit(stored(), types.StrategicMergePatchType, `{"spec": {"template": {"spec": {"hostNetwork": true, "containers": [`+
			`{"name": "app", "env": [{"name": "A", "value": "x"}], "volumeMounts": [{"mountPath": "/v", "readOnly": true}]}]}}}}`, "other")
		w.converge(planned)
		expectWritten()
		w.quiet(2, planned)
	})
})
