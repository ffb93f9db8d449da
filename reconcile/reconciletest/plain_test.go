package reconciletest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// bug is the fault of a plain reconciler.
type bug string

const (
	noBug          bug = "none"
	gateOnCreated  bug = "waits for a child created in the same pass"
	lateInventory  bug = "inventory written after the apply"
	cachedCount    bug = "count from a cached list"
	deleteByName   bug = "delete by name"
	swallowedError bug = "swallowed error"
	statusFirst    bug = "status before children"
	lateFinalizer  bug = "finalizer added after the children"
	mapOrder       bug = "map order in the plan"
	hotRetry       bug = "hot retry"
	pruneOnFailure bug = "prune on partial failure"
)

const (
	partOf      = "test/part-of"
	namespaceOf = "test/namespace"
	finalizer   = "test/finalizer"
	inventory   = "test/inventory"
	elsewhere   = "elsewhere" // a namespace that garbage collection does not reach
	drawnLabel  = "test/drawn"
)

// plain is a reconciler that uses only controller-runtime. It creates a ConfigMap for each number up to the count, one
// in another namespace, one for each source that it lists live, and one with a generated name.
type plain struct {
	client.Client
	live client.Reader
	bug  bug
}

func plainSystem(b bug) reconciletest.System {
	return reconciletest.System{
		Setup: func(mgr manager.Manager) error {
			p := &plain{Client: mgr.GetClient(), live: mgr.GetAPIReader(), bug: b}
			return builder.ControllerManagedBy(mgr).Named("plain").For(&widget.Widget{}).Owns(&corev1.ConfigMap{}).
				Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(p.concerned)).Complete(p)
		},
		Scheme: widgetScheme(),
		CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Given: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "source", Labels: map[string]string{"source": "yes"}}},
		},
		Owners: []client.Object{&widget.Widget{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       widget.Spec{Count: 2, Message: "hello", Data: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}},
		}},
		Change: func(owner client.Object) {
			w := owner.(*widget.Widget)
			w.Spec.Count, w.Spec.Message = 1, "good bye"
		},
	}
}

// concerned returns the owner of a ConfigMap in another namespace, and all owners for a source.
func (p *plain) concerned(ctx context.Context, config client.Object) []ctrl.Request {
	var all widget.WidgetList
	if config.GetNamespace() != elsewhere && config.GetLabels()["source"] == "" || p.List(ctx, &all) != nil {
		return nil
	}
	var out []ctrl.Request
	for i := range all.Items {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return out
}

func (p *plain) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	owner := &widget.Widget{}
	if err := p.Get(ctx, request.NamespacedName, owner); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !owner.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, p.finalize(ctx, owner)
	}
	if p.bug == statusFirst {
		if err := p.status(ctx, owner); err != nil {
			return ctrl.Result{}, err
		}
	}
	err := p.children(ctx, owner)
	if err != nil && p.bug != swallowedError {
		return ctrl.Result{}, err
	}
	if err == nil {
		if err := p.status(ctx, owner); err != nil {
			return ctrl.Result{}, err
		}
	}
	if p.bug == hotRetry {
		return ctrl.Result{RequeueAfter: 1}, nil
	}
	return ctrl.Result{}, nil
}

func (p *plain) children(ctx context.Context, owner *widget.Widget) error {
	if p.bug != lateFinalizer {
		if err := p.hold(ctx, owner); err != nil {
			return err
		}
	}
	planned, err := p.plan(ctx, owner)
	if err != nil {
		return err
	}
	if err := p.draw(ctx, owner); err != nil {
		return err
	}
	fresh := true
	for n, child := range planned {
		if p.bug == gateOnCreated && n > 0 && !fresh {
			continue
		}
		if fresh, err = p.ensure(ctx, owner, child); err != nil {
			return err
		}
	}
	if p.bug == lateFinalizer {
		if err := p.hold(ctx, owner); err != nil {
			return err
		}
	}
	return p.prune(ctx, owner, planned)
}

func (p *plain) hold(ctx context.Context, owner *widget.Widget) error {
	if !controllerutil.AddFinalizer(owner, finalizer) {
		return nil
	}
	return p.Update(ctx, owner)
}

func (p *plain) plan(ctx context.Context, owner *widget.Widget) ([]*corev1.ConfigMap, error) {
	var sources corev1.ConfigMapList
	if err := p.live.List(ctx, &sources, client.MatchingLabels{"source": "yes"}); err != nil && p.bug != pruneOnFailure {
		return nil, err
	}
	labels := map[string]string{partOf: owner.Name}
	var out []*corev1.ConfigMap
	for n := range owner.Spec.Count {
		out = append(out, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: fmt.Sprintf("%s-%d", owner.Name, n), Labels: labels},
			Data:       map[string]string{"message": owner.Spec.Message, "keys": p.keys(owner)},
		})
	}
	for _, source := range sources.Items {
		if source.Namespace != owner.Namespace {
			continue
		}
		out = append(out, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name + "-of-" + source.Name, Labels: labels},
		})
	}
	return append(out, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: elsewhere, Name: owner.Namespace + "-" + owner.Name,
			Labels: map[string]string{partOf: owner.Name, namespaceOf: owner.Namespace},
		},
	}), nil
}

func (p *plain) keys(owner *widget.Widget) string {
	var keys []string
	for key := range owner.Spec.Data {
		keys = append(keys, key)
	}
	if p.bug != mapOrder {
		slices.Sort(keys)
	}
	return strings.Join(keys, ",")
}

// ensure creates or updates a child and reports whether it was created.
func (p *plain) ensure(ctx context.Context, owner *widget.Widget, child *corev1.ConfigMap) (bool, error) {
	if child.Namespace == owner.Namespace {
		if err := controllerutil.SetControllerReference(owner, child, p.Scheme()); err != nil {
			return false, err
		}
	}
	current := &corev1.ConfigMap{}
	err := p.Get(ctx, client.ObjectKeyFromObject(child), current)
	if apierrors.IsNotFound(err) {
		if child.Namespace != owner.Namespace {
			if there, err := exists(ctx, p.live, owner); err != nil || !there {
				return false, err
			}
		}
		return true, p.Create(ctx, child)
	}
	if err != nil {
		return false, err
	}
	if metav1.GetControllerOf(current) != nil && !metav1.IsControlledBy(current, owner) {
		return false, errors.New("the object belongs to another controller")
	}
	if equality.Semantic.DeepEqual(current.Data, child.Data) && current.Labels[partOf] == owner.Name {
		return false, nil
	}
	current.Data, current.Labels = child.Data, child.Labels
	return false, p.Update(ctx, current)
}

// draw creates the child with a generated name. A reconciler that counts children in a cached list must store the name first.
func (p *plain) draw(ctx context.Context, owner *widget.Widget) error {
	if p.bug == cachedCount {
		var drawn corev1.ConfigMapList
		if err := p.List(ctx, &drawn, client.MatchingLabels{drawnLabel: owner.Name}); err != nil || len(drawn.Items) > 0 {
			return err
		}
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.Namespace, GenerateName: owner.Name + "-drawn-", Labels: map[string]string{drawnLabel: owner.Name},
		}}
		if err := controllerutil.SetControllerReference(owner, child, p.Scheme()); err != nil {
			return err
		}
		return p.Create(ctx, child)
	}
	return nil
}

func (p *plain) prune(ctx context.Context, owner *widget.Widget, planned []*corev1.ConfigMap) error {
	var surplus []corev1.ConfigMap
	if p.bug == lateInventory {
		for name := range strings.SplitSeq(owner.Annotations[inventory], ",") {
			surplus = append(surplus, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: name}})
		}
	} else {
		var list corev1.ConfigMapList
		if err := p.List(ctx, &list, client.InNamespace(owner.Namespace), client.MatchingLabels{partOf: owner.Name}); err != nil {
			return err
		}
		surplus = list.Items
	}
	var names []string
	for _, child := range planned {
		if child.Namespace == owner.Namespace {
			names = append(names, child.Name)
		}
	}
	for _, child := range surplus {
		if child.Name == "" || slices.Contains(names, child.Name) {
			continue
		}
		if err := p.remove(ctx, &child); err != nil {
			return err
		}
	}
	if wanted := strings.Join(names, ","); p.bug == lateInventory && owner.Annotations[inventory] != wanted {
		if owner.Annotations == nil {
			owner.Annotations = map[string]string{}
		}
		owner.Annotations[inventory] = wanted
		return p.Update(ctx, owner)
	}
	return nil
}

func (p *plain) remove(ctx context.Context, child *corev1.ConfigMap) error {
	var opts []client.DeleteOption
	if p.bug != deleteByName && child.UID != "" {
		opts = append(opts, client.Preconditions{UID: &child.UID})
	}
	return client.IgnoreNotFound(p.Delete(ctx, child, opts...))
}

func (p *plain) finalize(ctx context.Context, owner *widget.Widget) error {
	var list corev1.ConfigMapList
	selected := client.MatchingLabels{partOf: owner.Name, namespaceOf: owner.Namespace}
	if err := p.live.List(ctx, &list, client.InNamespace(elsewhere), selected); err != nil {
		return err
	}
	for i := range list.Items {
		if err := p.remove(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	if !controllerutil.RemoveFinalizer(owner, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(p.Update(ctx, owner))
}

func (p *plain) status(ctx context.Context, owner *widget.Widget) error {
	before := owner.DeepCopyObject().(*widget.Widget)
	owner.Status.ObservedGeneration = owner.Generation
	apimeta.SetStatusCondition(&owner.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done", ObservedGeneration: owner.Generation,
	})
	if equality.Semantic.DeepEqual(before.Status, owner.Status) {
		return nil
	}
	return p.Status().Update(ctx, owner)
}
