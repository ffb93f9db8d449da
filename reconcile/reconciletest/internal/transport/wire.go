package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// Wire is the connection between an instance of an operator and the API server: it counts requests, injects the fault of a case, rejects
// requests without permission, and is cut when the instance crashes.
type Wire struct {
	cluster *cluster.Cluster
	Client  client.WithWatch

	// Between is called in the middle of a pass, before the request of a FaultInterleave. Optional.
	Between func(ctx context.Context)
	// Shown is called after the request of a FaultMarked to update the cache. Optional.
	Shown func()

	mu       sync.Mutex
	sent     []Call
	counts   map[string]int
	inject   []*Injection
	happened bool // one of the faults has happened
	dead     bool
	pass     int
	gaps     []Gap
}

// errDead is the error of every request after a crash.
var errDead = errors.New("the operator has crashed")

// New returns a connection to the API server of a cluster, without a fault.
func New(w *cluster.Cluster) *Wire {
	out := &Wire{cluster: w, counts: map[string]int{}}
	out.Client = interceptor.NewClient(w.Client, out.funcs())
	return out
}

// Calls returns the requests so far.
func (w *Wire) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Call(nil), w.sent...)
}

// Arm sets the faults of the following requests and ends the previous ones.
func (w *Wire) Arm(faults ...*Injection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inject = faults
}

// Armed returns the faults that have not happened yet.
func (w *Wire) Armed() []*Injection {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.inject), (*Injection).Happened)
}

// Forget drops the requests so far; following ones are renumbered.
func (w *Wire) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.counts, w.gaps = nil, map[string]int{}, nil
}

// Enter begins a pass and returns the number of earlier requests.
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

// HasHappened reports whether a fault has happened.
func (w *Wire) HasHappened() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.happened
}

// Refusing reports whether there is a permanent fault.
func (w *Wire) Refusing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.inject, (*Injection).Lasts)
}

// Refused reports whether requests were rejected several times in a row, and with which fault.
func (w *Wire) Refused() (by Fault, refused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := slices.IndexFunc(w.inject, func(n *Injection) bool { return n.Lasting > 0 && n.Happened() })
	if n < 0 {
		return "", false
	}
	return w.inject[n].Fault, true
}

// send executes one request.
func (w *Wire) send(ctx context.Context, c Call, do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock() // one at a time: a run is ordered
	w.interrupt(ctx, c)
	if w.dead {
		return errDead
	}
	w.cluster.Touch(c.GVK)
	w.counts[c.Request.String()]++
	c.nth, c.Pass, c.At = w.counts[c.Request.String()], w.pass, w.cluster.Clock.Now()
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

// interrupt runs other passes before a request.
func (w *Wire) interrupt(ctx context.Context, c Call) {
	c.nth = w.counts[c.Request.String()] + 1
	n := slices.IndexFunc(w.inject, func(n *Injection) bool { return n.Fault == FaultInterleave && n.hit(&c) })
	if n < 0 || w.dead || w.Between == nil {
		return
	}
	w.inject[n].hits++
	w.happened = true
	w.mu.Unlock() // their requests are sent here, too
	defer w.mu.Lock()
	w.Between(ctx)
}

func version(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return string(u.GetUID()) + "/" + u.GetResourceVersion()
}

// peek reads the object of a request without counting.
func (w *Wire) peek(ctx context.Context, c Call) *unstructured.Unstructured {
	if c.Key.Name == "" {
		return nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(c.GVK)
	if w.cluster.Client.Get(ctx, c.Key, u) != nil {
		return nil
	}
	return u
}

// lacking returns the verb of a missing permission for a request, empty for none.
func (w *Wire) lacking(c *Call) string {
	rules := w.cluster.System.Rules
	if rules == nil {
		return ""
	}
	asked := c.Request
	if asked.Name != "" {
		asked.Name = c.Key.Name // not the canonical name
	}
	switch {
	case !rights.Allowed(rules, asked):
		return rights.VerbOf(asked)
	case c.Before == nil && !rights.AllowedToMake(rules, asked):
		return "create"
	}
	return ""
}

// strike executes the request or the fault.
func (w *Wire) strike(ctx context.Context, c *Call, do func() error) error {
	if err := w.cluster.Served(c.GVK.GroupKind(), c.GVK.Version); err != nil {
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
	w.happened = true
	fault := w.inject[n].Fault
	if refuse := Refusals()[fault]; refuse != nil {
		return refuse(c.GVK.GroupKind(), resource, c.Key.Name)
	}
	switch fault {
	case FaultChanged, FaultDeleted:
		if err := w.cluster.Perform(ctx, map[Fault]description.Step{FaultChanged: description.StepB, FaultDeleted: description.StepDelete}[fault], false); err != nil {
			return err
		}
		c.Before = w.peek(ctx, *c)
	case FaultTimeout:
		if err := do(); err != nil {
			return err
		}
		return apierrors.NewTimeoutError("the response was lost: "+ErrRefused.Error(), 0)
	case FaultCrash:
		_ = do() // the response is lost
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
	default: // it was rejected above
	}
	return do()
}

// Foreign is the annotation of an object with which a case has replaced another one.
const Foreign = "reconciletest/foreign"

// replace deletes the object of the request and creates another one with its name and without an owner.
func (w *Wire) replace(ctx context.Context, c *Call) error {
	old := w.peek(ctx, *c)
	if old == nil {
		return nil
	}
	if len(old.GetFinalizers()) > 0 {
		old.SetFinalizers(nil)
		if err := w.cluster.Client.Update(ctx, old); err != nil {
			return fmt.Errorf("replace %s: %w", c.Key, err)
		}
	}
	if err := w.cluster.Client.Delete(ctx, old); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("replace %s: %w", c.Key, err)
	}
	u := old.DeepCopy()
	u.Object["metadata"] = map[string]any{"name": c.Key.Name, "annotations": map[string]any{Foreign: "true"}}
	if c.Key.Namespace != "" {
		u.SetNamespace(c.Key.Namespace)
	}
	if err := w.cluster.Client.Create(ctx, u); err != nil {
		return fmt.Errorf("replace %s: %w", c.Key, err)
	}
	c.Before = u
	return nil
}
