package engine_test

import (
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A writer that changes a child after each repair", func() {
	type fight struct {
		object func() client.Object
		// write is the request of the other controller in round i.
		write func(i int) string
		// path is a reported field.
		path string
		most int
	}
	for name, f := range map[string]fight{
		"adds a key to the selector of a Service": {
			object: func() client.Object {
				return &corev1.Service{ObjectMeta: meta("fought"), Spec: corev1.ServiceSpec{
					Selector: map[string]string{"app": "x"}, Ports: []corev1.ServicePort{{Port: 80}},
				}}
			},
			write: func(int) string { return `{"spec":{"selector":{"theirs":"y"}}}` },
			path:  ".spec.selector", most: 6,
		},
		"adds another key to the selector of a Service each time": {
			object: func() client.Object {
				return &corev1.Service{ObjectMeta: meta("fought"), Spec: corev1.ServiceSpec{
					Selector: map[string]string{"app": "x"}, Ports: []corev1.ServicePort{{Port: 80}},
				}}
			},
			write: func(i int) string { return fmt.Sprintf(`{"spec":{"selector":{"theirs-%d":"y"}}}`, i) },
			path:  ".spec.selector", most: 10,
		},
		"adds a key to a nodeSelector": {
			object: func() client.Object {
				d := workload(func(s *corev1.PodSpec, _ *corev1.Container) { s.NodeSelector = map[string]string{"disk": "ssd"} })
				d.(*appsv1.Deployment).Name = "fought"
				return d
			},
			write: func(int) string { return `{"spec":{"template":{"spec":{"nodeSelector":{"theirs":"y"}}}}}` },
			path:  ".spec.template.spec.nodeSelector", most: 6,
		},
		"changes another field each time": {
			object: func() client.Object {
				o := configMap("fought", "ours")
				for i := range 20 {
					o.Data[fmt.Sprintf("key-%d", i)] = "ours"
				}
				return o
			},
			write: func(i int) string { return fmt.Sprintf(`{"data":{"key-%d":"theirs"}}`, i%20) },
			path:  "", most: 10,
		},
		"resets managedFields together with a value": {
			object: func() client.Object { return configMap("fought", "ours") },
			write:  func(int) string { return `{"metadata":{"managedFields":[{}]},"data":{"value":"theirs"}}` },
			path:   ".data.value", most: 25,
		},
	} {
		It("is reported, and the engine stops repairing after a few times: a writer that "+name, func() {
			w := newWorld()
			plan := one(f.object)
			w.converge(plan)
			sent, reported := 0, false
			for i := range 30 {
				w.edit(f.object(), types.MergePatchType, f.write(i), "insistent")
				w.syncedObject(f.object())
				result, requests := w.pass(plan())
				sent += len(writes(requests))
				w.syncedObject(f.object())
				var contested *apply.ContestedError
				if errors.As(result.Err(), &contested) {
					reported = reported || f.path == ""
					for _, field := range contested.Fields {
						reported = reported || field.Path == f.path
					}
				}
				w.clock.Step(time.Second)
			}
			GinkgoWriter.Println(name, "writes:", sent)
			Expect(reported).To(BeTrue())
			Expect(sent).To(BeNumerically("<=", f.most))
		})
	}
})
