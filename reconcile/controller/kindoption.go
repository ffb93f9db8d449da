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

// KindOption is what a kind is, said beside it in a call of the [Builder]: [Optional], [Retired], [Listed], [NeverDeletes], [FieldsOnly],
// [Index], [Derives], [Filter], [Whole], [OthersAsMetadata], [WithPredicates], [Inspector] and [Resource]. What is said of a kind in one call holds for all calls that name the
// kind, save for the predicates of [Builder.Watches].
type KindOption interface {
	applyToKind(d *declaration.Declaration)
}

// kindFlag is an option without a value.
type kindFlag string

const (
	// Optional reports that the CRD of the kind may be missing. While it is, reads find nothing ([AbsentError], which is a
	// NotFound, and empty lists) and children of the kind are left out of the plan; when it appears, the kind is watched and
	// the owners that asked for it are woken, without a restart.
	Optional kindFlag = "Optional"
	// Retired declares, beside a kind of [Builder.Owns], that an earlier version of the operator made such children and this one
	// makes no more. They are neither watched nor read: what is left of them is found by its label, asked for where the
	// inventory of an owner names the kind, and pruned, which takes the rights to list and delete it. Without that a kind that
	// is owned no longer is neither looked for nor pruned, and the condition PruneBlocked says so. A kind that the plan only
	// contributed to stays declared with [FieldsOnly] instead, to be given back. Once no owner has a child of the kind the
	// declaration may go.
	Retired kindFlag = "Retired"
	// NeverDeletes declares, beside a kind of [Builder.Writes], that the plan makes objects for several owners and deletes none:
	// [apply.Shared] or [apply.Retained], without Recreate. Such objects are never pruned, so it needs no right to delete them.
	NeverDeletes kindFlag = "NeverDeletes"
	// Listed declares, beside a kind of [Builder.Owns], that FetchRemoteState lists the owner's children of the kind with
	// [reconcile.FetchChildren]. The cache keeps an index for it.
	Listed kindFlag = "Listed"
	// FieldsOnly declares, beside a kind of [Builder.Writes], that the plan owns a few fields of somebody else's objects:
	// Contribute. It needs no right to create or delete them.
	FieldsOnly kindFlag = "FieldsOnly"
	// Whole declares that the cache keeps all objects of the kind whole. Of Secrets and ConfigMaps it otherwise keeps whole the children and
	// what FetchRemoteState reads, and of all others only names, UIDs, labels and owners; what else of the process
	// reads or watches them in the cache of the manager needs this option. Kinds with [Filter], [Index], [WithPredicates] or a mapping
	// of [Builder.Watches] are kept whole without it.
	Whole kindFlag = "Whole"
	// OthersAsMetadata declares that the cache keeps of the kind what it keeps of Secrets and ConfigMaps by default, see [Whole]: for a kind with
	// large objects, most of which are of others.
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

// controllerUID is the value of ChildIndex.
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

// Index lets reads list the kind by the equality of a field (client.MatchingFields). The function returns the values
// of the field, none when the object is not to be found through it; [Values] makes one from a function of the kind's own Go type.
func Index(name string, extract client.IndexerFunc) KindOption {
	return kindOption(func(d *declaration.Declaration) {
		d.Indexes = append(d.Indexes, declaration.Field{Name: name, Extract: extract})
	})
}

// Derives declares that FetchRemoteState reads a value which is computed from objects of the kind, with [reconcile.FetchDerived]. The dataflow
// page shows it by its name, which no other value of the kind has.
func Derives[O client.Object, V any](derivation *reconcile.Derivation[O, V]) KindOption {
	return kindOption(func(d *declaration.Declaration) {
		d.Derives = append(d.Derives, declaration.Derivation{Name: derivation.Name, List: derivation.List, Of: derivation})
	})
}

// Filter restricts the cache of the kind to the objects that the options of a list select, so that no informer holds all Secrets
// of a cluster: client.MatchingLabels, client.MatchingFields by what the API server can select the kind by, client.InNamespace, and their kin. Other
// objects are not found by reads, and a read by name in another namespace than that of the filter is an error. It takes effect through
// [CacheOptions]. Owners and optional kinds cannot be filtered, and children not by a field that they have no value of before they are written.
//
// https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
func Filter(options ...client.ListOption) KindOption {
	return kindOption(func(d *declaration.Declaration) { d.Filter, d.Broken = declaration.FilterOf(options) })
}

// WithPredicates drops the events of the kind that do not pass all predicates, for kinds that change often in ways that no
// phase looks at, such as the heartbeat of a Node: they wake no owner through a read or as a child. It is a promise about the
// phases: what the predicates drop must not matter to them. Beside a kind of [Builder.Watches] it chooses the events of that
// mapping alone.
func WithPredicates(predicates ...predicate.Predicate) KindOption {
	return kindOption(func(d *declaration.Declaration) { d.Predicates = append(d.Predicates, predicates...) })
}

// Inspector registers what reports the health of children of the kind, in place of [inspect.Of]: for a kind whose status has words of its own.
// It goes with [Builder.Owns] and [Builder.Writes] of a controller whose observation has no GetComponentHealth; children of Writes are
// inspected with it alone. The function takes the type of the declared object and is pure. The engine sets the name of the component, which is the kind.
func Inspector[T client.Object](inspect func(T) health.Component) KindOption {
	return kindOption(func(d *declaration.Declaration) {
		if want, got := reflect.TypeOf(d.Object), reflect.TypeFor[T](); inspect == nil || want != got {
			d.Broken = fmt.Errorf("option Inspector: want a function that takes %s, as the declared object, got one that takes %s, or nil", want, got)
			return
		}
		d.Inspect = func(object client.Object) health.Component {
			return inspect(object.(T)) //nolint:forcetypeassert // the type is that of the declared object
		}
	})
}

// Resource names the resource of the kind for the permissions, where it is not the regular plural of the kind in lower case: ending in "es"
// after s, x, z, ch and sh, in "ies" for a y after a consonant, else in "s". A manager logs at its start, and install.Files reports, that a
// kind needs it.
func Resource(plural string) KindOption {
	return kindOption(func(d *declaration.Declaration) { d.Resource = plural })
}
