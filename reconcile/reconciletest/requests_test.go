package reconciletest_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// TestRequestsCountsEveryClientVerb sends one request of each kind with the
// clients that reconcilers use.
func TestRequestsCountsEveryClientVerb(t *testing.T) {
	t.Parallel()

	namespace := env.Namespace(t)

	var counted requests.Requests

	c, err := client.New(counted.Observe(env.Config()), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	ctx := t.Context()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}}
	key := client.ObjectKeyFromObject(config)

	steps := []func() error{
		func() error { return c.Create(ctx, config) },
		func() error { return c.Get(ctx, key, &corev1.ConfigMap{}) },
		func() error { return c.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(namespace)) },
		func() error { return c.Update(ctx, config) },
		func() error { return c.Update(ctx, config, client.DryRunAll) },
		func() error { return c.Patch(ctx, config, client.MergeFrom(config.DeepCopy())) },
		func() error {
			return c.Apply(ctx, applycorev1.ConfigMap("settings", namespace).WithData(map[string]string{"a": "b"}),
				client.FieldOwner("kit"), client.ForceOwnership)
		},
		func() error { return c.Delete(ctx, config, client.DryRunAll) },
		func() error { return c.Delete(ctx, config) },
		func() error { return c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace)) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}

	want := map[requests.Request]int{
		{Verb: "create", Resource: "configmaps"}:               1,
		{Verb: "get", Resource: "configmaps"}:                  1,
		{Verb: "list", Resource: "configmaps"}:                 1,
		{Verb: "update", Resource: "configmaps"}:               1,
		{Verb: "update", Resource: "configmaps", DryRun: true}: 1,
		{Verb: "patch", Resource: "configmaps"}:                1,
		{Verb: "apply", Resource: "configmaps"}:                1,
		{Verb: "delete", Resource: "configmaps", DryRun: true}: 1,
		{Verb: "delete", Resource: "configmaps"}:               1,
		{Verb: "deletecollection", Resource: "configmaps"}:     1,
	}

	sent := counted.Snapshot().WithoutInformers()
	if diff := cmp.Diff(want, sent.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}

	if got := len(sent.Writes()); got != 6 {
		t.Errorf("want 6 writes, got %d:\n%s", got, sent.Writes())
	}

	applied := sent.Where(requests.Verb("apply"))
	if len(applied) != 1 || applied[0].FieldManager != "kit" || applied[0].Name != "settings" {
		t.Errorf("the apply is not recorded as sent: %+v", applied)
	}

	counted.Reset()

	if sent := counted.Snapshot(); len(sent) != 0 {
		t.Errorf("after Reset want no counted, got:\n%s", sent)
	}
}

// TestInject checks for each kind of fault what the client receives and what the
// server stored.
func TestInject(t *testing.T) {
	t.Parallel()

	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	broken := errors.New("connection reset")

	cases := map[string]struct {
		reason string
		fault  requests.Fault
		check  func(error) bool
		stored bool
	}{
		"conflict before": {
			reason: "an API error is returned as the server's response",
			fault:  requests.Fault{Err: apierrors.NewConflict(deployments, "web", errors.New("changed"))},
			check:  apierrors.IsConflict,
		},
		"throttled": {
			reason: "Retry-After is kept",
			fault:  requests.Fault{Err: apierrors.NewServerTimeout(deployments, "create", 0)},
			check:  apierrors.IsServerTimeout,
		},
		"connection before": {
			reason: "any other error is a connection error",
			fault:  requests.Fault{Err: broken},
			check:  func(err error) bool { return errors.Is(err, broken) },
		},
		"answer lost": {
			reason: "the write is stored though the client receives an error",
			fault:  requests.Fault{Committed: true},
			check:  func(err error) bool { return err != nil && !apierrors.IsAlreadyExists(err) },
			stored: true,
		},
		"timeout after commit": {
			reason: "an API error can follow the commit",
			fault:  requests.Fault{Err: apierrors.NewTimeoutError("late", 0), Committed: true},
			check:  apierrors.IsTimeout,
			stored: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var counted requests.Requests

			namespace := env.Namespace(t)

			c, err := client.New(counted.Observe(env.Config()), client.Options{})
			if err != nil {
				t.Fatal(err)
			}

			counted.Inject(func(request requests.Request) *requests.Fault {
				if request.Verb == "create" && request.Resource == "deployments" {
					return &tc.fault
				}

				return nil
			})

			err = c.Create(t.Context(), deployment(namespace))
			if !tc.check(err) {
				t.Errorf("%s, got %v", tc.reason, err)
			}

			counted.Inject(nil)

			err = env.Client().Get(t.Context(), client.ObjectKeyFromObject(deployment(namespace)), &appsv1.Deployment{})
			if stored := err == nil; stored != tc.stored {
				t.Errorf("%s: stored = %t, want %t (%v)", tc.reason, stored, tc.stored, err)
			}

			creates := counted.Snapshot().Where(requests.Verb("create"), requests.Resource("apps", "deployments"))
			if len(creates) != 1 {
				t.Errorf("want the failed request counted once, got:\n%s", creates)
			}
		})
	}
}

func deployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}

	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
}
