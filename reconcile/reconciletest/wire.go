package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// wire is what one instance of an operator has between itself and the API server: it counts every request, makes the one
// fail that a case is about, refuses what the rights do not cover, and is cut when the instance crashes.
type wire struct {
	world  *world
	client client.WithWatch

	mu     sync.Mutex
	sent   []call
	counts map[string]int
	inject *injection
	struck bool // the injection has happened
	dead   bool
	pass   int
}

// call is one request of the operator.
type call struct {
	request requests.Request
	gvk     schema.GroupVersionKind
	key     types.NamespacedName
	nth     int // of equal requests, from 1
	pass    int
	at      time.Time
	sent    map[string]any // the object of a create or an apply, as it was sent
	err     error
	changed bool // something is stored that was not before
	before  *unstructured.Unstructured
	after   *unstructured.Unstructured
}

// String identifies the request among those of a run, whatever the order in which workers send theirs.
func (c call) String() string { return fmt.Sprintf("%s#%d", c.request, c.nth) }

// injection is a fault that happens to one request of a run.
type injection struct {
	call string // of call.String, of Request.String for one that lasts
	// writes hits every write, creates every write that makes an object in the namespace of the test; call is empty then.
	writes, creates bool
	fault           fault
	// lasting is how many requests in a row are refused: 0 is one alone, and forever is until the fault is lifted.
	lasting int
	hits    int
}

const forever = -1

// hit reports whether the fault happens to the call.
func (n *injection) hit(c *call) bool {
	switch {
	case n == nil:
		return false
	case n.writes:
		return n.hits == 0 && c.request.IsWrite()
	case n.creates:
		return c.request.IsWrite() && c.before == nil && c.request.Namespace == testNamespace && c.request.Verb != "delete"
	case n.lasting == 0:
		return n.hits == 0 && n.call == c.String()
	}
	return n.call == c.request.String() && (n.lasting == forever || n.hits < n.lasting)
}

// fault is what goes wrong with a request.
type fault string

const (
	faultError    fault = "error"    // refused before it does anything
	faultTimeout  fault = "timeout"  // carried out, but the answer is lost
	faultConflict fault = "conflict" // refused as outdated
	faultCrash    fault = "crash"    // carried out, and the operator dies
	faultReplaced fault = "replaced" // the object was deleted and made anew by somebody else just before
	faultChanged  fault = "owner changed just before"
	faultDeleted  fault = "owner deleted just before"
)

// errDead is what every request of an instance gets that has crashed.
var errDead = errors.New("the operator has crashed")

// errRefused is the cause of the errors that cases inject.
var errRefused = errors.New("injected by the test")

func newWire(w *world) *wire {
	out := &wire{world: w, counts: map[string]int{}}
	out.client = interceptor.NewClient(w.client, out.funcs())
	return out
}

// calls are the requests so far.
func (w *wire) calls() []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]call(nil), w.sent...)
}

// arm makes a fault happen to the requests from now on; nil ends it.
func (w *wire) arm(n *injection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inject = n
}

// forget leaves out the requests so far: those from now on are counted anew.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.counts = nil, map[string]int{}
}

// enter begins a pass, and returns how many requests there were before.
func (w *wire) enter(pass int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pass = pass
	return len(w.sent)
}

// isCut reports whether the operator has crashed.
func (w *wire) isCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// hasStruck reports whether the fault has happened.
func (w *wire) hasStruck() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck
}

// refusing reports whether a fault is there that lasts.
func (w *wire) refusing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inject != nil && w.inject.lasting != 0
}

// send carries out one request under the eyes of the case.
func (w *wire) send(ctx context.Context, c call, do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock() // one at a time: a run has an order
	if w.dead {
		return errDead
	}
	w.world.touch(c.gvk)
	w.counts[c.request.String()]++
	c.nth, c.pass, c.at = w.counts[c.request.String()], w.pass, w.world.clock.Now()
	if c.request.IsWrite() {
		c.before = w.peek(ctx, c)
	}
	c.err = w.strike(ctx, &c, do)
	if c.request.IsWrite() {
		c.after = w.peek(ctx, c)
		c.changed = version(c.before) != version(c.after)
	}
	w.sent = append(w.sent, c)
	return c.err
}

func version(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return string(u.GetUID()) + "/" + u.GetResourceVersion()
}

// peek looks at the object of a request without counting.
func (w *wire) peek(ctx context.Context, c call) *unstructured.Unstructured {
	if c.key.Name == "" {
		return nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(c.gvk)
	if w.world.client.Get(ctx, c.key, u) != nil {
		return nil
	}
	return u
}

// strike lets the request through, or the fault happen.
func (w *wire) strike(ctx context.Context, c *call, do func() error) error {
	resource := schema.GroupResource{Group: c.request.Group, Resource: c.request.Resource}
	if rules := w.world.system.Rules; rules != nil && !rights.Allowed(rules, c.request) {
		return apierrors.NewForbidden(resource, c.request.Name,
			fmt.Errorf("%w: add the verb %q on %q", rights.ErrNotDeclared, rights.VerbOf(c.request), rights.ResourceOf(c.request)))
	}
	if !w.inject.hit(c) {
		return do()
	}
	w.inject.hits++
	w.struck = true
	if refuse := refusals()[w.inject.fault]; refuse != nil {
		return refuse(c.gvk.GroupKind(), resource, c.request.Name)
	}
	switch w.inject.fault {
	case faultChanged, faultDeleted:
		if err := w.world.perform(ctx, map[fault]step{faultChanged: stepB, faultDeleted: stepDelete}[w.inject.fault], false); err != nil {
			return err
		}
		c.before = w.peek(ctx, *c)
	case faultTimeout:
		if err := do(); err != nil {
			return err
		}
		return apierrors.NewTimeoutError("the answer was lost: "+errRefused.Error(), 0)
	case faultCrash:
		_ = do() // nobody is there to hear the answer
		w.dead = true
		return errDead
	case faultReplaced:
		if err := w.replace(ctx, c); err != nil {
			return err
		}
	default: // it was refused above
	}
	return do()
}

// foreign is the annotation of an object that a case has put in the place of another one.
const foreign = "reconciletest/foreign"

// replace deletes the object of the request and creates another one of its name that belongs to nobody.
func (w *wire) replace(ctx context.Context, c *call) error {
	old := w.peek(ctx, *c)
	if old == nil {
		return nil
	}
	if len(old.GetFinalizers()) > 0 {
		old.SetFinalizers(nil)
		if err := w.world.client.Update(ctx, old); err != nil {
			return fmt.Errorf("replace %s: %w", c.key, err)
		}
	}
	if err := w.world.client.Delete(ctx, old); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("replace %s: %w", c.key, err)
	}
	u := old.DeepCopy()
	u.Object["metadata"] = map[string]any{"name": c.key.Name, "annotations": map[string]any{foreign: "true"}}
	if c.key.Namespace != "" {
		u.SetNamespace(c.key.Namespace)
	}
	if err := w.world.client.Create(ctx, u); err != nil {
		return fmt.Errorf("replace %s: %w", c.key, err)
	}
	c.before = u
	return nil
}

// call describes a request about an object.
func (w *wire) call(verb, subresource string, obj runtime.Object, key client.ObjectKey, manager string, dry []string) call {
	gvk, err := apiutil.GVKForObject(obj, w.world.scheme)
	if err != nil {
		gvk = obj.GetObjectKind().GroupVersionKind()
	}
	if list, ok := obj.(client.ObjectList); ok {
		if of, err := objects.ListedKind(list, w.world.scheme); err == nil {
			gvk = of
		}
	}
	if namespaced, err := apiutil.IsGVKNamespaced(gvk, w.world.mapper); err == nil && !namespaced {
		key.Namespace = ""
	}
	resource := w.world.resource(gvk)
	var sent map[string]any
	if verb == "create" || verb == "apply" {
		if u, err := objects.ToUnstructured(obj, gvk); err == nil {
			sent = u.Object
		}
	}
	return call{gvk: gvk, key: key, sent: sent, request: requests.Request{
		Verb: verb, Group: resource.Group, Resource: resource.Resource, Subresource: subresource,
		Namespace: key.Namespace, Name: key.Name, FieldManager: manager, DryRun: len(dry) > 0,
	}}
}

func (w *wire) about(verb, subresource string, obj client.Object, manager string, dry []string) call {
	return w.call(verb, subresource, obj, client.ObjectKeyFromObject(obj), manager, dry)
}

func patchVerb(patch client.Patch) string {
	if patch.Type() == types.ApplyPatchType {
		return "apply"
	}
	return "patch"
}
