package howto

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// again is the text that replaces the first one.
const again = "hello again"

// janitor deletes the finished Job of the second text once the website has recorded it. It keeps the Job of the first
// text, which the operator has to replace.
func janitor(ctx context.Context, c client.Client) error {
	job, site := &batchv1.Job{}, &v1.Website{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "site-announcement"}, job); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "site"}, site); err != nil {
		return client.IgnoreNotFound(err)
	}
	if site.Annotations[announcement.Annotation] != job.Annotations[announcement.Annotation] ||
		job.Spec.Template.Spec.Containers[0].Args[1] != again || job.Status.Succeeded == 0 {
		return nil
	}
	return client.IgnoreNotFound(c.Delete(ctx, job))
}

// volumes binds all claims.
func volumes(ctx context.Context, c client.Client) error {
	var all corev1.PersistentVolumeClaimList
	if err := c.List(ctx, &all); err != nil {
		return err
	}
	for i := range all.Items {
		if claim := &all.Items[i]; claim.Status.Phase != corev1.ClaimBound {
			claim.Status.Phase = corev1.ClaimBound
			if err := c.Status().Update(ctx, claim); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestConverges checks that Converge finds no fault: with failing requests, restarts and edits, a website reaches its
// desired state.
func TestConverges(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	caches, err := controller.CacheOptions(scheme, websites())
	if err != nil {
		t.Fatal(err)
	}
	reconciletest.Converge(t, reconciletest.System{
		Setup:    func(mgr ctrl.Manager) error { return websites().SetupWithManager(mgr) },
		Scheme:   scheme,
		Cache:    caches,
		CRDPaths: []string{"../quickstart/config/crd"},
		Owners:   []client.Object{&v1.Website{ObjectMeta: metav1.ObjectMeta{Name: "site"}, Spec: v1.WebsiteSpec{Text: "hello"}}},
		Change:   func(o client.Object) { o.(*v1.Website).Spec.Text = again },
		StandIns: []reconciletest.StandIn{reconciletest.JobsComplete, volumes, janitor},
		Outlives: []string{"PersistentVolumeClaim default/site-data"},
		Cases:    40,
		Normalise: func(o *unstructured.Unstructured) {
			if o.GetKind() == "Secret" { // the password is random
				unstructured.RemoveNestedField(o.Object, "data", "password")
			}
		},
	})
}

// TestTooLong checks that an invalid spec is an error that names the field.
func TestTooLong(t *testing.T) {
	t.Parallel()
	site := &v1.Website{Spec: v1.WebsiteSpec{Text: strings.Repeat("x", most+1)}}
	_, err := reconciler{}.PlanResources(t.Context(), rcontext{Object: site}, observed{})
	var found *health.Error
	if !errors.As(err, &found) || found.Category != health.InvalidSpec || !strings.Contains(found.Error(), "spec.text has 1025 bytes") {
		t.Errorf("got %v, want an error about spec.text", err)
	}
}
