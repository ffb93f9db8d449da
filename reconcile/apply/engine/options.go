package engine

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

const (
	maxFieldManager = 90 // the server allows 128; contributions append a colon and a UID
	defaultShare    = 0.5
	defaultMinimum  = 3
	defaultWorkers  = 4
	defaultContest  = 5 * time.Minute
	defaultReads    = 100
)

func withDefaults(o apply.Options) (apply.Options, error) {
	if o.FieldManager == "" || len(o.FieldManager) > maxFieldManager || strings.Contains(o.FieldManager, ":") {
		return o, fmt.Errorf("options: field manager %q must have 1 to %d bytes and no colon", o.FieldManager, maxFieldManager)
	}
	if o.Domain == "" {
		o.Domain = apply.DefaultDomain
	}
	if o.Finalizer == "" {
		o.Finalizer = o.Domain + "/" + o.FieldManager
	}
	if msgs := validation.IsQualifiedName(o.Finalizer); len(msgs) > 0 {
		return o, fmt.Errorf("options: finalizer %q must be a qualified name: %s", o.Finalizer, strings.Join(msgs, "; "))
	}
	if o.PruneShare < 0 || o.PruneShare > 1 {
		return o, fmt.Errorf("options: prune share %v must be between 0 and 1", o.PruneShare)
	}
	setDefault(&o.PruneShare, defaultShare)
	setDefault(&o.PruneMinimum, defaultMinimum)
	setDefault(&o.Concurrency, defaultWorkers)
	setDefault(&o.LagDeadline, freshness.Deadline)
	setDefault(&o.ContestInterval, defaultContest)
	setDefault(&o.LiveReads, defaultReads)
	if o.GuardedKinds == nil {
		o.GuardedKinds = guardedKinds()
	}
	switch o.Propagation {
	case "":
		o.Propagation = metav1.DeletePropagationBackground
	case metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan:
	default:
		return o, fmt.Errorf("options: propagation %q must be Background, Foreground or Orphan", o.Propagation)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// guardedKinds returns the kinds whose objects hold data or work that cannot be recreated: the default of [apply.Options.GuardedKinds].
func guardedKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Namespace"},
		{Kind: "PersistentVolume"},
		{Kind: "PersistentVolumeClaim"},
		{Kind: "Pod"},
		{Group: "batch", Kind: "Job"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	}
}
