package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// listing has the members of a set that one pass has found, by kind. An unknown kind does not affect the other kinds.
type listing struct {
	members []memberObject
	// unknown are the kinds that may not be pruned, with the reason.
	unknown map[schema.GroupKind]error
	// open are kinds without planned or found members that stay in the inventory because no live listing has confirmed that they are
	// empty.
	open map[schema.GroupKind]struct{}
	// absent are kinds that the API server does not serve.
	absent []schema.GroupKind
	// failed are the errors of the lists.
	failed []error
	// searched are the recorded namespaces without a planned child in which the kinds that are listed live were searched.
	searched []string
	// more reports that the pass has used up its requests.
	more bool
	// scanned reports that a census has shown that all members are planned.
	scanned bool
}

// listingPeriod is the interval between repeated listings.
const listingPeriod = 10 * time.Minute

func newListing() *listing {
	return &listing{unknown: map[schema.GroupKind]error{}, open: map[schema.GroupKind]struct{}{}}
}

// errBudget reports that a pass has used up its requests for finding children.
var errBudget = errors.New("the requests of this pass are spent")

// spend takes one request from the budget of the pass.
func (p *pruning) spend() error {
	if p.spent >= p.env.options.LiveReads {
		return errBudget
	}
	p.spent++
	return nil
}

// members lists the members of the set: planned kinds from the cache, others live, and objects that the cache does not show yet from
// memory.
func (p *pruning) members() *listing {
	l := newListing()
	p.unproven = nil
	recorded := recordedInventory(p.pass)
	planned := p.plannedKinds()
	near, far := p.namespaces(recorded)
	var live []*intent.Kind
	for _, gk := range p.searchedKinds(recorded, planned) {
		p.markUnknown(l, gk)
		if k, cached := p.cachedKind(gk, planned, recorded); cached {
			p.listCached(l, k, near, far)
		} else if k := p.listUncached(l, gk, near); k != nil && k.Namespaced {
			live = append(live, k)
		}
	}
	p.listFar(l, live, far)
	p.addUnseen(l)
	slices.SortFunc(l.members, func(a, b memberObject) int { return applyset.CompareIDs(a.id, b.id) })
	return l
}

// searchedKinds returns the kinds that may have members: planned, recorded and declared kinds. The declared kinds are included because an
// inventory can get lost.
func (p *pruning) searchedKinds(recorded *applyset.Inventory, planned map[schema.GroupKind]*intent.Kind) []schema.GroupKind {
	out := slices.Clone(recorded.Kinds)
	for gk := range planned {
		out = append(out, gk)
	}
	for _, k := range p.env.declared.of(apply.KindOwned) {
		if gk := k.GVK.GroupKind(); p.unknown[gk] == nil {
			out = append(out, gk)
		}
	}
	looked := p.memory.Prune.Retired
	if p.memory.Metadata.Lost || (p.group != nil && (looked.IsZero() || p.now.Sub(looked) >= listingPeriod)) {
		for _, k := range p.env.declared.of(apply.KindRetired) {
			out = append(out, k.GVK.GroupKind())
		}
	}
	slices.SortFunc(out, applyset.CompareKinds)
	return slices.Compact(out)
}

// namespaces returns the namespaces in which the plan has children (near), and those that only the inventory names (far).
func (p *pruning) namespaces(recorded *applyset.Inventory) (near, far []string) {
	if ns := p.owner.GetNamespace(); ns != "" {
		near = append(near, ns)
	}
	near = append(near, plannedInventory(p.pass).Namespaces...)
	for _, ns := range recorded.Namespaces {
		if !slices.Contains(near, ns) {
			far = append(far, ns)
		}
	}
	return near, far
}

// markUnknown notes a kind whose desired state is unknown.
func (p *pruning) markUnknown(l *listing, gk schema.GroupKind) {
	if cause := p.unknown[gk]; cause != nil && !p.finalize {
		l.unknown[gk], l.open[gk] = cause, struct{}{}
	}
}

// cachedKind returns how the members of a kind are read from the cache. It returns false for kinds that must be listed live: those that
// the inventory names and the plan does not, because a kind is only removed when the API server confirms that it is empty.
func (p *pruning) cachedKind(gk schema.GroupKind, planned map[schema.GroupKind]*intent.Kind, recorded *applyset.Inventory) (*intent.Kind, bool) {
	if k := planned[gk]; k != nil {
		return k, true
	}
	if p.unknown[gk] != nil {
		return nil, false
	}
	declared, ok := p.env.declared[gk]
	switch {
	case p.group != nil && (!ok || declared.Use != apply.KindRetired):
		k, err := groupChildKind(p.pass, gk)
		return k, err == nil
	case !ok || declared.Use == apply.KindRetired || slices.Contains(recorded.Kinds, gk):
		return nil, false
	}
	k, err := p.env.kinds.OfGVK(declared.GVK)
	return k, err == nil
}

// listCached lists a kind from the cache. If kinds are declared, it lists all namespaces, because that costs no request and an inventory
// can get lost.
func (p *pruning) listCached(l *listing, k *intent.Kind, near, far []string) {
	namespaces := append(slices.Clone(near), far...)
	if !k.Namespaced || p.group != nil || p.env.declared != nil {
		namespaces = []string{""}
	}
	for _, ns := range namespaces {
		found, err := p.listIn(k.GVK, k, ns)
		if meta.IsNoMatchError(err) {
			l.notServed(k.GVK.GroupKind())
			return
		}
		if err != nil {
			p.listFailed(l, k.GVK.GroupKind(), err)
			return
		}
		l.members = append(l.members, found...)
	}
}

// listUncached lists a kind from the API server in the namespaces of the plan. If the kind may have members in other namespaces, it
// returns the kind in the representation of the API server.
func (p *pruning) listUncached(l *listing, gk schema.GroupKind, near []string) *intent.Kind {
	if !p.env.declared.allows(gk) {
		l.open[gk] = struct{}{}
		l.unknown[gk] = fmt.Errorf("%s is in the inventory and is not declared: declare it as owned, "+
			"or as retired if only an earlier version made objects of it", gk)
		return nil
	}
	mapping, err := p.env.client.RESTMapper().RESTMapping(gk)
	if meta.IsNoMatchError(err) {
		l.notServed(gk)
		return nil
	}
	if err != nil {
		p.listFailed(l, gk, err)
		return nil
	}
	k := &intent.Kind{GVK: mapping.GroupVersionKind, Namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	namespaces := near
	if !k.Namespaced || p.group != nil {
		namespaces = []string{""}
	}
	for _, ns := range namespaces {
		if !p.listLive(l, k, ns) {
			return nil
		}
	}
	return k
}

// listLive lists a kind in a namespace and reports success.
func (p *pruning) listLive(l *listing, k *intent.Kind, namespace string) bool {
	gk := k.GVK.GroupKind()
	if p.foundEmpty(gk, namespace) {
		return true
	}
	err := p.spend()
	if err == nil {
		var found []memberObject
		before := len(p.unproven)
		if found, err = p.listIn(k.GVK, nil, namespace); err == nil {
			l.members = append(l.members, found...)
			p.noteEmpty(gk, namespace, len(found) == 0 && len(p.unproven) == before)
			return true
		}
	}
	switch {
	case errors.Is(err, errBudget):
		l.more = true
		l.open[gk] = struct{}{}
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		l.notServed(gk)
	default:
		p.listFailed(l, gk, err)
	}
	return false
}

// foundEmpty reports whether an earlier pass over an owner that is being deleted has recently found nothing in this namespace. If a
// deletion needs more requests than one pass may send, the next pass continues from there.
func (p *pruning) foundEmpty(gk schema.GroupKind, namespace string) bool {
	at, known := p.memory.Prune.Empty[memory.Place{Kind: gk, Namespace: namespace}]
	return known && p.finalize && p.now.Sub(at) < memory.SettleTime
}

func (p *pruning) noteEmpty(gk schema.GroupKind, namespace string, empty bool) {
	if !p.finalize || !empty {
		return
	}
	m := &p.memory.Prune
	if m.Empty == nil {
		m.Empty = map[memory.Place]time.Time{}
	}
	m.Empty[memory.Place{Kind: gk, Namespace: namespace}] = p.now
}

// notServed notes a kind that the API server does not serve. Discovery may be stale, so the kind stays in the inventory.
func (l *listing) notServed(gk schema.GroupKind) {
	l.open[gk] = struct{}{}
	l.absent = append(l.absent, gk)
}

func (p *pruning) listFailed(l *listing, gk schema.GroupKind, err error) {
	l.open[gk] = struct{}{}
	l.failed = append(l.failed, fmt.Errorf("list %s: %w", gk, err))
}

// listFar lists kinds from the API server in namespaces that only the inventory names, one namespace after the other within the budget.
func (p *pruning) listFar(l *listing, kinds []*intent.Kind, far []string) {
	for _, ns := range far {
		for _, k := range kinds {
			if !p.listLive(l, k, ns) {
				return
			}
		}
		l.searched = append(l.searched, ns)
	}
}

// addUnseen adds written members that no list shows yet.
func (p *pruning) addUnseen(l *listing) {
	listed := map[applyset.ObjectID]struct{}{}
	for i := range l.members {
		listed[l.members[i].id] = struct{}{}
	}
	for id, m := range p.memory.Children {
		if _, known := listed[id]; known || m.UID() == "" || m.Ours() != m.UID() || !m.Pending() || (m.Mode() != apply.Own && m.Mode() != apply.Once) {
			continue
		}
		planned := m.InPass(p.memory.Pass)
		proven, found, err := p.provesRemembered(id, m, planned)
		if err != nil {
			p.listFailed(l, id.GroupKind, err)
		}
		if proven {
			after, _ := applyset.ParseContributions(found.Annotations[applyset.AfterAnnotation])
			l.members = append(l.members, memberObject{
				id: id, gvk: m.GVK(), uid: m.UID(), version: found.ResourceVersion, planned: planned, after: after,
				memory: m, holdsOwner: p.holdsOwner(id), deleted: p.deletedAlready(id, m.UID()),
				holdsData: p.env.holdsData(id.GroupKind) || (m.SentOnce() && id.GroupKind == secrets),
			})
		}
	}
}

func sortedKinds[T any](kinds map[schema.GroupKind]T) []schema.GroupKind {
	out := make([]schema.GroupKind, 0, len(kinds))
	for gk := range kinds {
		out = append(out, gk)
	}
	slices.SortFunc(out, applyset.CompareKinds)
	return out
}
