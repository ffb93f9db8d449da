package checker_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// pass is one reconciliation of a Widget.
type pass struct {
	context.Context
	client.Client
	owner  *widget.Widget
	events record.EventRecorder
	number int // from 1
}

// operator is the function that an operator runs in each reconciliation.
type operator func(p pass) error

func (o operator) setup(mgr manager.Manager) error {
	events := mgr.GetEventRecorderFor("test") //nolint:staticcheck // one of the two recorders
	number := 0
	return ctrl.NewControllerManagedBy(mgr).For(&widget.Widget{}).Owns(&corev1.ConfigMap{}).Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			number++
			p := pass{Context: ctx, Client: mgr.GetClient(), owner: &widget.Widget{}, events: events, number: number}
			if err := p.Get(ctx, request.NamespacedName, p.owner); err != nil || p.owner.DeletionTimestamp != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			return reconcile.Result{}, o(p)
		}))
}

// create creates a child of the owner, unless it exists.
func (p pass) create(obj client.Object) error {
	obj.SetNamespace(p.owner.Namespace)
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "test.reconcilekit.dev/v1", Kind: "Widget", Name: p.owner.Name, UID: p.owner.UID}})
	err := p.Create(p, obj)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// ready sets the owner to ready for a generation, with a message.
func (p pass) ready(generation int64, message string) error {
	p.owner.Status = widget.Status{ObservedGeneration: generation, Conditions: []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", Message: message, ObservedGeneration: generation,
		LastTransitionTime: metav1.Unix(1, 0),
	}}}
	return p.Status().Update(p, p.owner)
}

func configMap(name, color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"color": color}}
}

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{key: value}, Data: map[string][]byte{key: []byte(value)}}
}

func logged(p pass, text string) error {
	log.FromContext(p).Info(text)
	return nil
}

// execute runs an operator with one Widget until it is idle, and returns the run and its checker.
func execute(t *testing.T, o operator, change func(*description.System)) (*checker.Checker, *run.Run) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, widget.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := description.System{
		Setup: o.setup, Scheme: scheme, CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Owners: []client.Object{&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "web"}}},
	}
	if change != nil {
		change(&s)
	}
	system, err := description.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	steps := []description.Step{description.StepA}
	r := run.Execute(t.Context(), system, run.Spec{Steps: steps, Listen: true}, "")
	if r.Last == nil {
		t.Fatal(r.Err)
	}
	t.Cleanup(func() { r.Last.End() })
	j := checker.New(system)
	j.Probe, j.Baselines = r.Cluster, []*baseline.Baseline{baseline.Of(steps, r)}
	return j, r
}

// wants compares the prefixes of the findings and notes, without the name of the case, with the expected ones.
func wants(t *testing.T, j *checker.Checker, want string) {
	t.Helper()
	var got []string
	for _, f := range j.Findings() {
		got = append(got, "["+string(f.Check)+"] "+f.Message)
	}
	got = append(got, j.Notes()...)
	if text := strings.Join(got, "\n"); (text == "") != (want == "") || !strings.HasPrefix(text, want) {
		t.Errorf("found: %s\nwant:  %s", text, want)
	}
}
