package controller

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// names are the names that identify a controller in the process and on objects.
type names struct {
	Controller   string
	FieldManager string
	Finalizer    string
}

// namesOf returns the names of a controller, from the options or derived from its name.
func namesOf(controller string, options apply.Options) names {
	n := names{Controller: controller, FieldManager: cmp.Or(options.FieldManager, controller)}
	n.Finalizer = cmp.Or(options.Finalizer, cmp.Or(options.Domain, apply.DefaultDomain)+"/"+n.FieldManager)
	return n
}

// claim is a name that only one controller of a kind of owner may use in a manager. Two controllers with one field manager
// would prune each other's children. With one finalizer, each would remove it although the other still needs it.
type claim struct {
	manager manager.Manager
	owner   schema.GroupKind
	what    string // the name of the option
	value   string
}

// claims are the claims of the running managers.
type claims struct {
	mu    sync.Mutex
	names map[claim]string // the values are names of controllers
}

//nolint:gochecknoglobals // a manager does not list its controllers
var claimed = &claims{names: map[claim]string{}}

// Claim returns an error if another controller of the same manager and kind of owner has one of the names. The names are
// released when the manager ends.
func (n names) Claim(mgr manager.Manager, owner schema.GroupKind) error {
	if reflect.TypeOf(mgr).Kind() != reflect.Pointer {
		return nil // it cannot be a key that identifies the manager
	}
	wanted := []claim{
		{manager: mgr, owner: owner, what: "FieldManager", value: n.FieldManager},
		{manager: mgr, owner: owner, what: "Finalizer", value: n.Finalizer},
	}
	if err := claimed.take(n.Controller, wanted); err != nil {
		return err
	}
	return mgr.Add(release(wanted))
}

func (c *claims) take(name string, wanted []claim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range wanted {
		if other, taken := c.names[w]; taken {
			return fmt.Errorf("controller %q: %s %q is that of controller %q, which reconciles %s, too: "+
				"two controllers of one kind of owner need names of their own, or they take each other's children for theirs",
				name, w.what, w.value, other, w.owner)
		}
	}
	for _, w := range wanted {
		c.names[w] = name
	}
	return nil
}

// release releases claims at the end of the manager.
type release []claim

var _ manager.LeaderElectionRunnable = release(nil)

// Start waits for the end of the manager.
func (r release) Start(ctx context.Context) error {
	<-ctx.Done()
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	for _, c := range r {
		delete(claimed.names, c)
	}
	return nil
}

// NeedLeaderElection returns false: a manager without the lease has claims, too.
func (release) NeedLeaderElection() bool { return false }
