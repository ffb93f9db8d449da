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

// names are those of a controller, and of what it leaves on objects.
type names struct {
	Controller   string
	FieldManager string
	Finalizer    string
}

// namesOf returns the names of a controller: those of the options, or else what follows from its name.
func namesOf(controller string, options apply.Options) names {
	n := names{Controller: controller, FieldManager: cmp.Or(options.FieldManager, controller)}
	n.Finalizer = cmp.Or(options.Finalizer, cmp.Or(options.Domain, apply.DefaultDomain)+"/"+n.FieldManager)
	return n
}

// claim is what one controller of a kind of owner must have for itself in a manager: two controllers with one field
// manager take each other's children for their own, and with one finalizer each lets the owner go that the other holds.
type claim struct {
	manager manager.Manager
	owner   schema.GroupKind
	what    string // the name of the option
	value   string
}

// claims are the claims of the managers that have not ended.
type claims struct {
	mu    sync.Mutex
	names map[claim]string // of the controller
}

//nolint:gochecknoglobals // a manager does not say which controllers it has
var claimed = &claims{names: map[claim]string{}}

// Claim refuses a controller of owners of a kind whose names another one of the same manager has. They are released when the manager ends.
func (n names) Claim(mgr manager.Manager, owner schema.GroupKind) error {
	if reflect.TypeOf(mgr).Kind() != reflect.Pointer {
		return nil // it cannot be told from others
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

// release gives claims back at the end of the manager.
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

// NeedLeaderElection reports that a manager that does not lead has claims, too.
func (release) NeedLeaderElection() bool { return false }
