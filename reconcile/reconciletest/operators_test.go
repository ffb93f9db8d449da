package reconciletest_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// trait is a difference between an app and the plain one, correct or faulty.
type trait string

// app is a plain reconciler: a Deployment that rolls when a referenced ConfigMap changes, settings, and a Secret with a
// random password. It is Ready when its Deployment is.
type app struct {
	client.Client
	live   client.Reader
	clock  clock.PassiveClock
	events record.EventRecorder
	trait  trait
	extra  work // runs at the start of a reconciliation

	mu       sync.Mutex
	known    map[string]bool
	failures map[string]int
	outside  map[string]string // for the trait "external"
	current  string            // for the trait "owner of the pass stored in the reconciler"
	busy     sync.Mutex        // for the trait "skips while another pass runs"
}

func appSystem(t trait) reconciletest.System {
	return reconciletest.System{
		Setup: func(mgr manager.Manager) error {
			a := newApp(mgr, t)
			for _, traits := range []map[trait]work{extras(), strict(), foreignWrites(), randomNames()} {
				if traits[t] != nil {
					a.extra = traits[t]
				}
			}
			return a.setup(mgr)
		},
		Scheme: widgetScheme(),
		CRDs:   definitions(t),
		Given: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Data: map[string]string{"level": "3"}},
		},
		Owners: []client.Object{&widget.Widget{
			ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: widget.Spec{Count: 2, Message: "hello", Ref: "shared"},
		}},
		Change: func(owner client.Object) {
			w := owner.(*widget.Widget)
			w.Spec.Count, w.Spec.Message = 3, "good-bye"
			if t == "annotation changed" {
				w.Annotations = map[string]string{"test/note": "changed"}
			}
			if t == "label from the spec" {
				w.Spec.Message = strings.Repeat("long", 20)
			}
		},
		StandIns: []reconciletest.StandIn{reconciletest.DeploymentsAvailable, jobsComplete},
		Optional: optional(t),
	}
}

func newApp(mgr manager.Manager, t trait) *app {
	a := &app{
		Client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: clock.RealClock{}, trait: t,
		events: mgr.GetEventRecorderFor("app"), known: map[string]bool{}, failures: map[string]int{}, //nolint:staticcheck // both recorders are held
		outside: map[string]string{},
	}
	if source, ok := mgr.(interface{ GetClock() clock.PassiveClock }); ok {
		a.clock = source.GetClock()
	}
	return a
}

func (a *app) setup(mgr manager.Manager) error {
	b := builder.ControllerManagedBy(mgr).Named("app").For(&widget.Widget{}).Owns(&appsv1.Deployment{}).Owns(&corev1.Secret{})
	switch a.trait {
	case "settings not watched":
	case "settings watched by generation":
		b = b.Owns(&corev1.ConfigMap{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	default:
		b = b.Owns(&corev1.ConfigMap{})
	}
	if strings.Contains(string(a.trait), "Job") {
		b = b.Owns(&batchv1.Job{})
	}
	if strings.Contains(string(a.trait), "Valve") {
		b = b.Owns(aNewValve())
	}
	if len(optional(a.trait)) > 0 {
		b = b.Owns(&policyv1.PodDisruptionBudget{})
	}
	if a.trait == "shared object with entries of all owners" {
		b = b.Watches(&widget.Widget{}, handler.EnqueueRequestsFromMapFunc(a.neighbours))
	}
	if a.trait != "reference not watched" {
		b = b.Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []ctrl.Request {
			var list widget.WidgetList
			if a.List(ctx, &list, client.InNamespace(o.GetNamespace())) != nil {
				return nil
			}
			var out []ctrl.Request
			for _, w := range list.Items {
				if w.Spec.Ref == o.GetName() || o.GetName() == "first" || o.GetName() == w.Name+"-mark" {
					out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&w)})
				}
				if a.trait == "reference triggers only the first owner" && len(out) > 0 {
					break
				}
			}
			return out
		}))
	}
	if slices.Contains([]trait{"several workers", "owner of the pass stored in the reconciler", "skips while another pass runs", "object claimed by the first owner"}, a.trait) {
		b = b.WithOptions(controller.Options{MaxConcurrentReconciles: 2})
	}
	return b.Complete(a)
}

func (a *app) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if a.trait == "skips while another pass runs" {
		if !a.busy.TryLock() {
			return ctrl.Result{}, nil
		}
		defer a.busy.Unlock()
	}
	owner := &widget.Widget{}
	if err := a.Get(ctx, request.NamespacedName, owner); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if a.extra != nil {
		if result, err := a.extra(ctx, a, owner); err != nil || !result.IsZero() {
			return result, err
		}
	}
	if !owner.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if a.trait == "event in every pass" {
		a.events.Event(owner, corev1.EventTypeNormal, "Reconciled", "everything is ready")
	}
	if a.trait == "gives up" && a.failures[request.String()] > 3 {
		return ctrl.Result{}, nil
	}
	after, err := a.children(ctx, owner)
	if err != nil {
		return a.failed(request, err)
	}
	if a.trait == "stops after three failures" {
		a.failures[request.String()] = 0
	}
	return ctrl.Result{RequeueAfter: after}, a.status(ctx, owner)
}

// failed handles the error of a child's write.
func (a *app) failed(request ctrl.Request, err error) (ctrl.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures[request.String()]++
	switch {
	case a.trait == "refusal retried without backoff":
		return ctrl.Result{RequeueAfter: 10 * time.Millisecond}, nil
	case a.trait == "stops after three failures" && a.failures[request.String()] == 3:
		a.failures[request.String()] = 0
		return ctrl.Result{}, nil
	case a.trait == "waits an hour after a refusal":
		return ctrl.Result{RequeueAfter: time.Hour}, nil
	case a.trait == "invalid specs are not retried" && apierrors.IsInvalid(err):
		return ctrl.Result{}, ctrl.TerminalError(err)
	}
	return ctrl.Result{}, err
}

func (a *app) children(ctx context.Context, owner *widget.Widget) (time.Duration, error) {
	checksum, replicas, err := a.reference(ctx, owner)
	if err != nil {
		return 0, err
	}
	if err := a.settings(ctx, owner); err != nil {
		return 0, err
	}
	if err := a.password(ctx, owner); err != nil {
		return 0, err
	}
	if err := a.deployment(ctx, owner, checksum, replicas); err != nil {
		return 0, err
	}
	switch a.trait {
	case "poll every ten seconds":
		return 10 * time.Second, nil
	case "resync every ten hours":
		return 10 * time.Hour, nil
	case "expiry", "expiry without a planned pass":
		return a.expire(ctx, owner)
	case "schedule of every hour":
		return a.schedule(ctx, owner, time.Hour)
	case "schedule of every minute":
		return a.schedule(ctx, owner, time.Minute)
	case "external":
		a.mu.Lock()
		defer a.mu.Unlock()
		a.outside[owner.Name] = owner.Spec.Message
	}
	return 0, nil
}

// reference reads the object that the owner refers to.
func (a *app) reference(ctx context.Context, owner *widget.Widget) (checksum string, replicas int32, err error) {
	replicas = int32(owner.Spec.Count)
	config := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: owner.Namespace, Name: owner.Spec.Ref}
	if err = a.Get(ctx, key, config); err != nil {
		switch {
		case a.trait == "read error handled as not found", apierrors.IsNotFound(err):
			replicas, err = 0, nil
		}
	}
	if a.trait == "live read error handled as an empty list" {
		var list corev1.ConfigMapList
		if a.live.List(ctx, &list, client.InNamespace(owner.Namespace)) != nil {
			replicas = 0
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, config.Data)))[:12], replicas, err
}

// store creates or updates an object like controllerutil.
func (a *app) store(ctx context.Context, owner *widget.Widget, obj client.Object, change func()) error {
	child := fmt.Sprintf("%T %s", obj, obj.GetName())
	if a.trait == "leaves out the second child that fails" && a.leftOut(child, nil) {
		return nil
	}
	_, err := controllerutil.CreateOrUpdate(ctx, a.Client, obj, func() error {
		change()
		return controllerutil.SetControllerReference(owner, obj, a.Scheme())
	})
	if a.trait == "leaves out the second child that fails" && a.leftOut(child, err) {
		return nil
	}
	return err
}

func (a *app) settings(ctx context.Context, owner *widget.Widget) error {
	name := owner.Name + "-settings"
	if a.trait == "one child name for all owners" {
		name = "settings"
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: name}}
		_, err := controllerutil.CreateOrUpdate(ctx, a.Client, config, func() error {
			config.Data = map[string]string{"message": owner.Spec.Message, "owner": owner.Name}
			return controllerutil.SetOwnerReference(owner, config, a.Scheme())
		})
		return err
	}
	if a.trait == "remembers created children in memory" {
		a.mu.Lock()
		defer a.mu.Unlock()
		if done := a.known[name+owner.Spec.Message]; done {
			return nil
		}
		a.known[name+owner.Spec.Message] = true
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: name}}
	if a.trait == "prunes children of other owners" {
		var all corev1.ConfigMapList
		if err := a.List(ctx, &all, client.InNamespace(owner.Namespace), client.MatchingLabels{"app": "demo"}); err != nil {
			return err
		}
		for i := range all.Items {
			if all.Items[i].Name != name {
				if err := a.Delete(ctx, &all.Items[i]); client.IgnoreNotFound(err) != nil {
					return err
				}
			}
		}
	}
	return a.store(ctx, owner, config, func() {
		if a.trait == "seeds its settings" && config.ResourceVersion != "" {
			return
		}
		config.Data = map[string]string{"message": owner.Spec.Message, "note": owner.Annotations["test/note"]}
		config.Labels = map[string]string{"app": "demo"}
		if a.trait == "removes foreign annotations" {
			config.Annotations = nil
		}
		if a.trait == "annotations replaced" {
			config.Annotations = map[string]string{"test/of": owner.Name}
		}
	})
}

func (a *app) password(ctx context.Context, owner *widget.Widget) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name}}
	return a.store(ctx, owner, secret, func() {
		if secret.Data["password"] != nil && a.trait != "new password for each change" {
			return
		}
		if a.trait == "new password for each change" && secret.Annotations["test/for"] == owner.Spec.Message {
			return
		}
		secret.Data = map[string][]byte{"password": []byte(rand.Text())}
		if a.trait == "new password for each change" {
			secret.Annotations = map[string]string{"test/for": owner.Spec.Message}
		}
	})
}

func (a *app) deployment(ctx context.Context, owner *widget.Widget, checksum string, replicas int32) error {
	labels := map[string]string{"app": owner.Name}
	switch a.trait {
	case "selector follows the spec", "label from the spec":
		labels["message"] = owner.Spec.Message
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name}}
	return a.store(ctx, owner, d, func() {
		made := d.ResourceVersion != ""
		if made && a.trait == "does not watch its children" && owner.Status.ObservedGeneration == owner.Generation {
			return
		}
		if !made || a.trait != "replicas owned by an autoscaler" {
			d.Spec.Replicas = &replicas
		}
		if !made || a.trait == "selector follows the spec" {
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": owner.Name}}
			if a.trait == "selector follows the spec" {
				d.Spec.Selector.MatchLabels = labels
			}
		}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Annotations = map[string]string{"test/checksum": checksum}
		if len(d.Spec.Template.Spec.Containers) != 1 {
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
		}
		d.Spec.Template.Spec.Containers[0].Image = "example.com/" + owner.Spec.Message
	})
}

// schedule creates a record for each period and keeps the newest three.
func (a *app) schedule(ctx context.Context, owner *widget.Widget, every time.Duration) (time.Duration, error) {
	now := a.clock.Now()
	last := now.Truncate(every)
	if last.After(owner.CreationTimestamp.Time) {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.Namespace, Name: owner.Name + "-" + strconv.FormatInt(last.Unix(), 10), Labels: map[string]string{"run": owner.Name},
		}}
		if err := a.store(ctx, owner, config, func() { config.Labels = map[string]string{"run": owner.Name} }); err != nil {
			return 0, err
		}
		var runs corev1.ConfigMapList
		if err := a.List(ctx, &runs, client.InNamespace(owner.Namespace), client.MatchingLabels{"run": owner.Name}); err != nil {
			return 0, err
		}
		slices.SortFunc(runs.Items, func(a, b corev1.ConfigMap) int { return strings.Compare(b.Name, a.Name) })
		for n := 3; n < len(runs.Items); n++ {
			if err := a.Delete(ctx, &runs.Items[n], client.Preconditions{UID: &runs.Items[n].UID}); client.IgnoreNotFound(err) != nil {
				return 0, err
			}
		}
	}
	return last.Add(every).Sub(now), nil
}

func (a *app) status(ctx context.Context, owner *widget.Widget) error {
	d := &appsv1.Deployment{}
	if err := a.Get(ctx, client.ObjectKeyFromObject(owner), d); client.IgnoreNotFound(err) != nil {
		return err
	}
	ready := d.Status.ObservedGeneration == d.Generation && d.UID != "" && d.Status.ReadyReplicas == *d.Spec.Replicas &&
		d.Spec.Template.Spec.Containers[0].Image == "example.com/"+owner.Spec.Message
	available := slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue
	})
	before := owner.DeepCopyObject().(*widget.Widget)
	switch a.trait {
	case "ignores the Deployment's generation":
		ready = d.Status.ReadyReplicas > 0 && available
	case "ready once the Deployment exists":
		ready = true
	case "stays ready":
		ready = ready && available || apimeta.IsStatusConditionTrue(owner.Status.Conditions, "Ready")
	default:
		ready = ready && available
	}
	condition := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", ObservedGeneration: owner.Generation}
	if ready {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Done"
	}
	owner.Status.ObservedGeneration = owner.Generation
	switch a.trait {
	case "observedGeneration of the first spec":
		owner.Status.ObservedGeneration, condition.ObservedGeneration = 1, 0
	case "observedGeneration of the condition is never new":
		condition.ObservedGeneration = 1
	}
	apimeta.SetStatusCondition(&owner.Status.Conditions, condition)
	if equality.Semantic.DeepEqual(before.Status, owner.Status) {
		return nil
	}
	return a.Status().Update(ctx, owner)
}
