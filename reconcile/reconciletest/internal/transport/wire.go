package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Wire is what one instance of an operator has between itself and the API server: it counts every request, makes the one
// fail that a case is about, refuses what the rights do not cover, and is cut when the instance crashes.
type Wire struct {
	world  *world.World
	Client client.WithWatch

	// Between is called in the middle of a pass, before the request of a FaultBeside is sent. Nil does nothing.
	Between func(ctx context.Context)
	// Shown is called after the request of a FaultMarked: the cache sees what has happened. Nil does nothing.
	Shown func()

	mu     sync.Mutex
	sent   []Call
	counts map[string]int
	inject []*Injection
	struck bool // one of them has happened
	dead   bool
	pass   int
	gaps   []Gap
}

// Gap is a read of the cache that has a part only of what is read, which the answer says.
type Gap struct {
	GVK  schema.GroupVersionKind
	What string
	Pass int
	sent int // requests before
}

// Unread notes such a read.
func (w *Wire) Unread(gvk schema.GroupVersionKind, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaps = append(w.gaps, Gap{GVK: gvk, What: what, Pass: w.pass, sent: len(w.sent)})
}

// Gaps are the reads of this sort after which the pass has not read the kind past the cache.
func (w *Wire) Gaps() []Gap {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.gaps), func(g Gap) bool {
		return slices.ContainsFunc(w.sent[min(g.sent, len(w.sent)):], func(c Call) bool {
			return c.Pass == g.Pass && c.GVK == g.GVK && !c.Request.IsWrite()
		})
	})
}

// Call is one request of the operator.
type Call struct {
	Request requests.Request
	GVK     schema.GroupVersionKind
	Key     types.NamespacedName
	nth     int // of equal requests, from 1
	Pass    int
	At      time.Time
	Sent    map[string]any // the object of a create or an apply, as it was sent
	Err     error
	Changed bool // something is stored that was not before
	Before  *unstructured.Unstructured
	After   *unstructured.Unstructured
	made    client.Object // of a create: it has the name that the server has generated, afterwards
	marked  bool          // a FaultMarked has happened
}

// String identifies the request among those of a run, whatever the order in which workers send theirs.
func (c Call) String() string { return fmt.Sprintf("%s#%d", c.Request, c.nth) }

// Again identifies the next of the same requests.
func (c Call) Again() string { return fmt.Sprintf("%s#%d", c.Request, c.nth+1) }

// Rename gives requests what stands for the names of their objects, and counts equal ones anew.
func Rename(calls []Call, as func(schema.GroupKind, types.NamespacedName) string) {
	counts := map[string]int{}
	for n := range calls {
		c := &calls[n]
		if c.Request.Name != "" {
			c.Request.Name = as(c.GVK.GroupKind(), c.Key)
		}
		counts[c.Request.String()]++
		c.nth = counts[c.Request.String()]
	}
}

// Sent are the requests of calls, in their order.
func Sent(calls []Call) requests.Sent {
	sent := make(requests.Sent, len(calls))
	for n, c := range calls {
		sent[n] = c.Request
	}
	return sent
}

// ChangedBy are the requests that have changed what is stored.
func ChangedBy(calls []Call) []string {
	var out []string
	for _, c := range calls {
		if c.Changed {
			out = append(out, c.Request.String())
		}
	}
	return out
}

// Injection is a fault that happens to one request of a run, or to several in a row. It counts how often it has happened, also over the
// lives of several instances.
type Injection struct {
	Call string // of call.String, of Request.String for one that lasts
	// writes hits every write, creates every write that makes an object in the namespace of the test; call is empty then.
	Writes, Creates bool
	Fault           Fault
	// Lasting is how many requests in a row are refused: 0 is one alone, and forever is until the fault is lifted.
	Lasting int
	hits    int
}

const Forever = -1

// hit reports whether the fault happens to the call.
func (n *Injection) hit(c *Call) bool {
	switch {
	case n.Writes:
		return n.hits == 0 && c.Request.IsWrite()
	case n.Creates:
		return c.Request.IsWrite() && c.Before == nil && c.Request.Namespace == description.TestNamespace && c.Request.Verb != "delete"
	case n.Lasting == 0:
		return n.hits == 0 && n.Call == c.String()
	}
	return n.Call == c.Request.String() && (n.Lasting == Forever || n.hits < n.Lasting)
}

// Happened reports whether the fault has hit a request.
func (n *Injection) Happened() bool { return n.hits > 0 }

// Lasts reports whether the fault goes on until it is lifted.
func (n *Injection) Lasts() bool { return n.Lasting == Forever }

// Fault is what goes wrong with a request.
type Fault string

const (
	FaultError    Fault = "error"    // refused before it does anything
	FaultTimeout  Fault = "timeout"  // carried out, but the answer is lost
	FaultConflict Fault = "conflict" // refused as outdated
	FaultCrash    Fault = "crash"    // carried out, and the operator dies
	FaultReplaced Fault = "replaced" // the object was deleted and made anew by somebody else just before
	FaultChanged  Fault = "owner changed just before"
	FaultDeleted  Fault = "owner deleted just before"
	FaultBeside   Fault = "passes side by side" // other passes run from their beginning to their end just before
)

// errDead is what every request of an instance gets that has crashed.
var errDead = errors.New("the operator has crashed")

// ErrRefused is the cause of the errors that cases inject.
var ErrRefused = errors.New("injected by the test")

// New puts a wire before the API server of a world, without a fault.
func New(w *world.World) *Wire {
	out := &Wire{world: w, counts: map[string]int{}}
	out.Client = interceptor.NewClient(w.Client, out.funcs())
	return out
}

// Calls are the requests so far.
func (w *Wire) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Call(nil), w.sent...)
}

// Arm makes faults happen to the requests from now on, and ends those of before.
func (w *Wire) Arm(faults ...*Injection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inject = faults
}

// Armed are the faults that have not happened yet.
func (w *Wire) Armed() []*Injection {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.inject), (*Injection).Happened)
}

// Forget leaves out the requests so far: those from now on are counted anew.
func (w *Wire) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.counts, w.gaps = nil, map[string]int{}, nil
}

// Enter begins a pass, and returns how many requests there were before.
func (w *Wire) Enter(pass int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pass = pass
	return len(w.sent)
}

// IsCut reports whether the operator has crashed.
func (w *Wire) IsCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// HasStruck reports whether a fault has happened.
func (w *Wire) HasStruck() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck
}

// Refusing reports whether a fault is there that lasts until it is lifted.
func (w *Wire) Refusing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.inject, (*Injection).Lasts)
}

// Refused reports whether requests were refused several times in a row, and by which answer.
func (w *Wire) Refused() (by Fault, refused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := slices.IndexFunc(w.inject, func(n *Injection) bool { return n.Lasting > 0 && n.Happened() })
	if n < 0 {
		return "", false
	}
	return w.inject[n].Fault, true
}

// send carries out one request under the eyes of the case.
func (w *Wire) send(ctx context.Context, c Call, do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock() // one at a time: a run has an order
	w.interrupt(ctx, c)
	if w.dead {
		return errDead
	}
	w.world.Touch(c.GVK)
	w.counts[c.Request.String()]++
	c.nth, c.Pass, c.At = w.counts[c.Request.String()], w.pass, w.world.Clock.Now()
	if c.Request.IsWrite() {
		c.Before = w.peek(ctx, c)
	}
	c.Err = w.strike(ctx, &c, do)
	if c.made != nil {
		c.Key.Name = c.made.GetName()
	}
	if c.Request.IsWrite() {
		c.After = w.peek(ctx, c)
		c.Changed = version(c.Before) != version(c.After)
	}
	w.sent = append(w.sent, c)
	w.show(c.marked)
	return c.Err
}

// interrupt lets other passes run before a request.
func (w *Wire) interrupt(ctx context.Context, c Call) {
	c.nth = w.counts[c.Request.String()] + 1
	n := slices.IndexFunc(w.inject, func(n *Injection) bool { return n.Fault == FaultBeside && n.hit(&c) })
	if n < 0 || w.dead || w.Between == nil {
		return
	}
	w.inject[n].hits++
	w.struck = true
	w.mu.Unlock() // their requests come through here
	defer w.mu.Lock()
	w.Between(ctx)
}

func version(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return string(u.GetUID()) + "/" + u.GetResourceVersion()
}

// peek looks at the object of a request without counting.
func (w *Wire) peek(ctx context.Context, c Call) *unstructured.Unstructured {
	if c.Key.Name == "" {
		return nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(c.GVK)
	if w.world.Client.Get(ctx, c.Key, u) != nil {
		return nil
	}
	return u
}

// lacking is the verb that the rights of the operator lack for a request, empty for none.
func (w *Wire) lacking(c *Call) string {
	rules := w.world.System.Rules
	if rules == nil {
		return ""
	}
	asked := c.Request
	if asked.Name != "" {
		asked.Name = c.Key.Name // and not what stands for it
	}
	switch {
	case !rights.Allowed(rules, asked):
		return rights.VerbOf(asked)
	case c.Before == nil && !rights.AllowedToMake(rules, asked):
		return "create"
	}
	return ""
}

// strike lets the request through, or the fault happen.
func (w *Wire) strike(ctx context.Context, c *Call, do func() error) error {
	if err := w.world.Served(c.GVK.GroupKind(), c.GVK.Version); err != nil {
		return err
	}
	resource := schema.GroupResource{Group: c.Request.Group, Resource: c.Request.Resource}
	if verb := w.lacking(c); verb != "" {
		return apierrors.NewForbidden(resource, c.Key.Name,
			fmt.Errorf("%w: add the verb %q on %q", rights.ErrNotDeclared, verb, rights.ResourceOf(c.Request)))
	}
	n := slices.IndexFunc(w.inject, func(n *Injection) bool { return n.hit(c) })
	if n < 0 {
		return do()
	}
	w.inject[n].hits++
	w.struck = true
	fault := w.inject[n].Fault
	if refuse := Refusals()[fault]; refuse != nil {
		return refuse(c.GVK.GroupKind(), resource, c.Key.Name)
	}
	switch fault {
	case FaultChanged, FaultDeleted:
		if err := w.world.Perform(ctx, map[Fault]description.Step{FaultChanged: description.StepB, FaultDeleted: description.StepDelete}[fault], false); err != nil {
			return err
		}
		c.Before = w.peek(ctx, *c)
	case FaultTimeout:
		if err := do(); err != nil {
			return err
		}
		return apierrors.NewTimeoutError("the answer was lost: "+ErrRefused.Error(), 0)
	case FaultCrash:
		_ = do() // nobody is there to hear the answer
		w.dead = true
		return errDead
	case FaultReplaced:
		if err := w.replace(ctx, c); err != nil {
			return err
		}
	case FaultMarked:
		c.marked = true
		if err := w.mark(ctx, c); err != nil {
			return err
		}
	default: // it was refused above
	}
	return do()
}

// Foreign is the annotation of an object that a case has put in the place of another one.
const Foreign = "reconciletest/foreign"

// replace deletes the object of the request and creates another one of its name that belongs to nobody.
func (w *Wire) replace(ctx context.Context, c *Call) error {
	old := w.peek(ctx, *c)
	if old == nil {
		return nil
	}
	if len(old.GetFinalizers()) > 0 {
		old.SetFinalizers(nil)
		if err := w.world.Client.Update(ctx, old); err != nil {
			return fmt.Errorf("replace %s: %w", c.Key, err)
		}
	}
	if err := w.world.Client.Delete(ctx, old); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("replace %s: %w", c.Key, err)
	}
	u := old.DeepCopy()
	u.Object["metadata"] = map[string]any{"name": c.Key.Name, "annotations": map[string]any{Foreign: "true"}}
	if c.Key.Namespace != "" {
		u.SetNamespace(c.Key.Namespace)
	}
	if err := w.world.Client.Create(ctx, u); err != nil {
		return fmt.Errorf("replace %s: %w", c.Key, err)
	}
	c.Before = u
	return nil
}

// call describes a request about an object.
func (w *Wire) call(verb, subresource string, obj runtime.Object, key client.ObjectKey, manager string, dry []string) Call {
	gvk, err := apiutil.GVKForObject(obj, w.world.Scheme)
	if err != nil {
		gvk = obj.GetObjectKind().GroupVersionKind()
	}
	if list, ok := obj.(client.ObjectList); ok {
		if of, err := objects.ListedKind(list, w.world.Scheme); err == nil {
			gvk = of
		}
	}
	if namespaced, err := apiutil.IsGVKNamespaced(gvk, w.world.Mapper); err == nil && !namespaced {
		key.Namespace = ""
	}
	resource := w.world.Resource(gvk)
	var sent map[string]any
	if verb == "create" || verb == "apply" {
		if u, err := objects.ToUnstructured(obj, gvk); err == nil {
			sent = u.Object
		}
	}
	return Call{GVK: gvk, Key: key, Sent: sent, Request: requests.Request{
		Verb: verb, Group: resource.Group, Resource: resource.Resource, Subresource: subresource,
		Namespace: key.Namespace, Name: w.world.ShownAs(gvk.GroupKind(), key), FieldManager: manager, DryRun: len(dry) > 0,
	}}
}

// About describes a request about an object, by its verb; dry are the options of a dry run.
func (w *Wire) About(verb, subresource string, obj client.Object, manager string, dry []string) Call {
	return w.call(verb, subresource, obj, client.ObjectKeyFromObject(obj), manager, dry)
}

func patchVerb(patch client.Patch) string {
	if patch.Type() == types.ApplyPatchType {
		return "apply"
	}
	return "patch"
}
