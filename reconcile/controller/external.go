package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

// intercepting is implemented by managers of tests that intercept every call outside the cluster to inject faults.
type intercepting interface {
	// InterceptExternal is called for every call, see [external.Interceptor].
	InterceptExternal(ctx context.Context, call external.Call, next func(context.Context) error) error
}

// claiming is implemented by managers of tests that store the claims of external resources themselves.
type claiming interface {
	// ExternalClaims returns the store of the claims.
	ExternalClaims() external.Claims
}

// ownNamespace is the file with the namespace of the Pod of the process.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// claims returns the store of the claims of external resources.
func (c *Controller) claims(mgr manager.Manager) (external.Claims, error) {
	if test, ok := mgr.(claiming); ok {
		return test.ExternalClaims(), nil
	}
	namespace := c.options.ClaimNamespace
	if namespace == "" {
		raw, err := os.ReadFile(ownNamespace)
		if err != nil {
			return nil, fmt.Errorf("controller %q: External at %s: the process does not run in a cluster: set Options.ClaimNamespace to the namespace that stores the claims of external resources",
				c.name, c.externals[0].source)
		}
		namespace = strings.TrimSpace(string(raw))
	}
	return &external.ConfigMapClaims{Writer: mgr.GetClient(), Reader: mgr.GetAPIReader(), Namespace: namespace}, nil
}

// alive returns a function that reads from the API server whether an owner exists.
func alive(mgr manager.Manager, reads *tracked.Reads) func(context.Context, types.NamespacedName, types.UID) (bool, error) {
	return func(ctx context.Context, key types.NamespacedName, uid types.UID) (bool, error) {
		owner := declaration.MetadataOf(reads.Kinds[0].GroupVersionKind)
		err := mgr.GetAPIReader().Get(ctx, key, owner)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return owner.GetUID() == uid, client.IgnoreNotFound(err)
	}
}

var errExternalGroup = errors.New("a group has no object that could remember what it has outside of the cluster: declare External on the controller of an object")

// outside sets up the declared external kinds.
func (c *Controller) outside(mgr manager.Manager, reads *tracked.Reads, options Options, calls *observe.Observer) error {
	config := external.Config{Called: calls.Called, Alive: alive(mgr, reads)}
	if len(c.externals) > 0 && c.store == nil {
		var err error
		if config.Claims, err = c.claims(mgr); err != nil {
			return err
		}
	}
	if test, ok := mgr.(intercepting); ok {
		config.Intercept = test.InterceptExternal
	}
	return c.engineOutside(reads, options, config)
}

// dryOutside sets up the declared external kinds for a preview, which observes them and changes nothing.
func (c *Controller) dryOutside(reads *tracked.Reads, options Options) error {
	return c.engineOutside(reads, options, external.Config{DryRun: true})
}

func (c *Controller) engineOutside(reads *tracked.Reads, options Options, config external.Config) error {
	if len(c.externals) == 0 {
		return nil
	}
	if c.store != nil {
		return fmt.Errorf("controller %q: External at %s: %w", c.name, c.externals[0].source, errExternalGroup)
	}
	config.FieldManager, config.Finalizer, config.Clock = c.names().FieldManager, c.names().Finalizer, options.Clock
	if config.Domain = options.Apply.Domain; config.Domain == "" {
		config.Domain = apply.DefaultDomain
	}
	for _, k := range c.externals {
		config.Kinds = append(config.Kinds, k.Declared)
	}
	var err error
	if reads.Outside, err = tracked.NewExternalReads(reads.Tracker, config); err != nil {
		return fmt.Errorf("controller %q: %w", c.name, err)
	}
	return nil
}
