package controller

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// KindOption describes a kind in a call of the [Builder]: [Optional], [Retired], [Listed], [NeverDeletes], [FieldsOnly],
// [Index], [Derives], [Filter], [Where], [Whole], [OthersAsMetadata], [WithPredicates], [Inspector] and [Resource]. An
// option in one call applies to all calls with the kind, except for the predicates of [Builder.Watches].
type KindOption interface {
	applyToKind(d *declaration.Declaration)
}

// kindFlag is an option without a value.
type kindFlag string

const (
	// Optional declares that the CRD of the kind may be missing. While it is missing, reads find nothing ([AbsentError],
	// which is a NotFound, and empty lists), and children of the kind are left out of the plan. When it is installed, the
	// controller watches the kind and enqueues the owners that read it, without a restart. While the API server cannot tell whether it is
	// installed, as for an aggregated API without a backend, reads and children of the kind are errors, and the controller asks again.
	Optional kindFlag = "Optional"
	// Retired declares, for a kind of [Builder.Owns], that an earlier version of the operator created such children and
	// this version does not. The kind is neither watched nor read. When the inventory of an owner contains the kind, the
	// engine lists the remaining children by their label and prunes them, which requires the list and delete permissions. A
	// kind that is no longer declared is not pruned, and the condition PruneBlocked reports it. For a kind to which the
	// plan only contributed, keep the declaration with [FieldsOnly] instead, so that the fields are released. Remove the
	// declaration when no owner has a child of the kind.
	Retired kindFlag = "Retired"
	// NeverDeletes declares, for a kind of [Builder.Writes], that the plan creates objects of several owners and deletes
	// none: [apply.Shared] or [apply.Retained], without Recreate. Such objects are never pruned, so the delete permission
	// is not needed.
	NeverDeletes kindFlag = "NeverDeletes"
	// Listed declares, for a kind of [Builder.Owns], that FetchRemoteState lists the owner's children of the kind with
	// [reconcile.FetchChildren]. The cache maintains an index for it.
	Listed kindFlag = "Listed"
	// FieldsOnly declares, for a kind of [Builder.Writes], that the plan owns some fields of objects that others create:
	// Contribute. The create and delete permissions are not needed.
	FieldsOnly kindFlag = "FieldsOnly"
	// Whole declares that the cache stores all objects of the kind entirely. By default it stores a Secret or ConfigMap
	// entirely only if it is a child or FetchRemoteState reads it, and otherwise only its name, UID, labels and owners. Set
	// Whole when other code of the process reads or watches Secrets or ConfigMaps with the manager's cache. Kinds with
	// [Filter], [Index], [WithPredicates] or a mapping of [Builder.Watches] are always stored entirely.
	Whole kindFlag = "Whole"
	// OthersAsMetadata declares that the cache stores the kind as it stores Secrets and ConfigMaps by default, see [Whole].
	// Use it for a kind with many large objects that are neither children nor read.
	OthersAsMetadata kindFlag = "OthersAsMetadata"
)

func (f kindFlag) applyToKind(d *declaration.Declaration) {
	switch {
	case f == Optional:
		d.Optional = true
	case f == Retired && d.Purpose == declaration.PurposeOwns:
		d.Purpose = declaration.PurposeRetired
	case f == NeverDeletes && d.Purpose == declaration.PurposeWrites:
		d.Purpose = declaration.PurposeShares
	case f == Listed && d.Purpose == declaration.PurposeOwns:
		d.Indexes = append(d.Indexes, declaration.Field{Name: reconcile.ChildIndex, Extract: controllerUID, OnMetadata: true})
	case f == Whole:
		d.Sparse = declaration.SparseNever
	case f == OthersAsMetadata:
		d.Sparse = declaration.SparseAlways
	case f == FieldsOnly && d.Purpose == declaration.PurposeWrites:
		d.Purpose = declaration.PurposeContributes
	default:
		d.Misused = append(d.Misused, string(f))
	}
}

// controllerUID returns the values of ChildIndex.
func controllerUID(object client.Object) []string {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil {
		return nil
	}
	return []string{string(owner.UID)}
}

// kindOption is an option with a value.
type kindOption func(d *declaration.Declaration)

func (o kindOption) applyToKind(d *declaration.Declaration) { o(d) }

// Index allows reads to list the kind by the equality of a field (client.MatchingFields). The function returns the values
// of the field, none if the object must not be found by it. [Values] converts a function of the kind's own Go type.
func Index(name string, extract client.IndexerFunc) KindOption {
	return kindOption(func(d *declaration.Declaration) {
		d.Indexes = append(d.Indexes, declaration.Field{Name: name, Extract: extract})
	})
}

// Derives declares that FetchRemoteState reads a value that is computed from objects of the kind, with
// [reconcile.FetchDerived]. The name of the value must be unique for the kind; the dataflow page shows it.
func Derives[O client.Object, V any](derivation *reconcile.Derivation[O, V]) KindOption {
	return kindOption(func(d *declaration.Declaration) {
		d.Derives = append(d.Derives, declaration.Derivation{Name: derivation.Name, List: derivation.List, Of: derivation})
	})
}

// Filter restricts the cache of the kind to the objects that list options select, so that an informer does not store all
// Secrets of a cluster, for example: client.MatchingLabels, client.MatchingFields with a field selector of the API server,
// client.InNamespace and similar options. Reads do not find other objects, and a read by name in a namespace outside the
// filter is an error. It takes effect through [CacheOptions]. Optional kinds cannot be filtered; children only by labels,
// name and namespace; and owners only in a call of [Builder.Owners].
//
// https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
func Filter(options ...client.ListOption) KindOption {
	return kindOption(func(d *declaration.Declaration) { d.Filter, d.Broken = declaration.FilterOf(options) })
}

// WithPredicates ignores the events of the kind that any of the predicates rejects, for kinds with frequent changes that no
// phase uses, such as the heartbeat of a Node. Such events enqueue no owner, neither through a read nor as a child, so the
// changes must be irrelevant to the phases. In a call of [Builder.Watches] it selects only the events of that mapping.
func WithPredicates(predicates ...predicate.Predicate) KindOption {
	return kindOption(func(d *declaration.Declaration) { d.Predicates = append(d.Predicates, predicates...) })
}

// Inspector registers a function that reports the health of children of the kind instead of [inspect.Of], for a kind with
// its own form of status. It is valid in [Builder.Owns] and [Builder.Writes] of a controller that inspects its children,
// see [New]; children of Writes are inspected only with it. The function takes the type of the declared object and
// is pure. The engine sets the name of the component to the kind.
func Inspector[T client.Object](inspect func(T) health.Component) KindOption {
	return kindOption(func(d *declaration.Declaration) {
		if want, got := reflect.TypeOf(d.Object), reflect.TypeFor[T](); inspect == nil || want != got {
			d.Broken = fmt.Errorf("option Inspector: want a function that takes %s, as the declared object, got one that takes %s, or nil", want, got)
			return
		}
		d.Inspect = func(object client.Object) health.Component {
			return inspect(object.(T)) //nolint:forcetypeassert // the condition above has compared the types
		}
	})
}

// Resource sets the resource of the kind for the permissions, if it is not the regular plural of the kind in lower case:
// with "es" after s, x, z, ch and sh, with "ies" for a y after a consonant, otherwise with "s". The manager logs at its
// start that a kind needs it, and install.Files returns an error.
func Resource(plural string) KindOption {
	return kindOption(func(d *declaration.Declaration) { d.Resource = plural })
}
