package engine_test

import (
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// orphan acts like the garbage collector when an object is deleted with orphan propagation.
func (w *world) orphan(o client.Object) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	Expect(client.IgnoreNotFound(w.admin.Patch(w.ctx, o, patch))).To(Succeed())
}

var _ = Describe("A child that cannot be changed as planned", func() {
	pod := func(n int) client.Object {
		return &corev1.Pod{ObjectMeta: meta("x"), Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "N", Value: fmt.Sprint(n)}}}},
		}}
	}
	job := func(n int) client.Object {
		o := &batchv1.Job{ObjectMeta: meta("x"), Spec: batchv1.JobSpec{Template: podTemplateJob()}}
		o.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("i:%d", n)
		return o
	}
	kinds := map[string]func(n int) client.Object{
		"Pod": pod,
		"Job": job,
		"StatefulSet": func(n int) client.Object {
			return &appsv1.StatefulSet{ObjectMeta: meta("x"), Spec: appsv1.StatefulSetSpec{
				ServiceName: fmt.Sprintf("s-%d", n), Selector: selector(), Template: podTemplate(),
			}}
		},
		"Deployment": func(n int) client.Object {
			o := deployment("x")
			o.Spec.Selector.MatchLabels["n"], o.Spec.Template.Labels["n"] = fmt.Sprint(n), fmt.Sprint(n)
			return o
		},
		"Service": func(n int) client.Object {
			o := &corev1.Service{ObjectMeta: meta("x"), Spec: servicePort()}
			if n > 1 {
				o.Spec.ClusterIP = corev1.ClusterIPNone
			}
			return o
		},
		"Service with a port of the node": func(n int) client.Object {
			o := &corev1.Service{ObjectMeta: meta("x"), Spec: servicePort()}
			o.Spec.Type, o.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, 30011
			o.Spec.ClusterIP = fmt.Sprintf("10.0.0.%d", 10+n) // in the range of addresses that are allocated last
			return o
		},
		"PersistentVolumeClaim": func(n int) client.Object {
			return &corev1.PersistentVolumeClaim{ObjectMeta: meta("x"), Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new(fmt.Sprintf("c-%d", n)),
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}}
		},
		"RoleBinding": func(n int) client.Object {
			return &rbacv1.RoleBinding{ObjectMeta: meta("x"), RoleRef: rbacv1.RoleRef{
				APIGroup: rbacv1.GroupName, Kind: "Role", Name: fmt.Sprintf("r-%d", n),
			}}
		},
		"ConfigMap": func(n int) client.Object {
			o := configMap("x", fmt.Sprint(n))
			o.Immutable = new(true)
			return o
		},
		"Secret": func(n int) client.Object {
			return &corev1.Secret{ObjectMeta: meta("x"), Immutable: new(true), StringData: map[string]string{"n": fmt.Sprint(n)}}
		},
		"StorageClass": func(n int) client.Object {
			return &storagev1.StorageClass{ObjectMeta: meta("x"), Provisioner: fmt.Sprintf("p-%d", n)}
		},
		"PriorityClass": func(n int) client.Object {
			return &schedulingv1.PriorityClass{ObjectMeta: meta("x"), Value: int32(n)}
		},
	}
	for name, object := range kinds {
		It("is recreated if the plan allows it: "+name, func() {
			w := newWorld()
			plan := func(n int) func() apply.Plan {
				return one(func() client.Object {
					o := object(n)
					if namespaced, err := w.admin.IsObjectNamespaced(o); err == nil && !namespaced {
						o.SetName("x-" + w.namespace)
					}
					return o
				}, apply.Recreate())
			}
			w.converge(plan(1))
			result, _ := w.pass(plan(2)())
			if name == "PersistentVolumeClaim" {
				var blocked *apply.RecreateBlockedError
				Expect(errors.As(result.Err(), &blocked)).To(BeTrue(), "%v", result.Err())
				return
			}
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeDeleted))
			o := plan(2)().Children[0].Object
			o.SetNamespace(w.namespace)
			w.orphan(o)
			if gracefully := w.admin.Delete(w.ctx, o, client.GracePeriodSeconds(0)); gracefully != nil {
				Expect(apierrors.IsNotFound(gracefully)).To(BeTrue())
			}
			w.converge(plan(2))
		})
	}

	It("is kept if the plan is also invalid for a new object", func() {
		for name, broken := range map[string]func() client.Object{
			"Pod": func() client.Object {
				o := pod(2).(*corev1.Pod)
				o.Spec.Containers[0].Image = ""
				return o
			},
			"Job": func() client.Object {
				o := job(2).(*batchv1.Job)
				o.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
				return o
			},
		} {
			By(name)
			w := newWorld()
			w.converge(one(func() client.Object { return kinds[name](1) }))
			stored := broken()
			stored.SetNamespace(w.namespace)
			for range 3 {
				result, _ := w.pass(one(broken, apply.Recreate())())
				Expect(apierrors.IsInvalid(result.Err())).To(BeTrue(), "%v", result.Err())
				Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
				Expect(stored.GetDeletionTimestamp()).To(BeNil())
			}
		}
	})
})
