package external

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Claim records which owner has an external resource.
type Claim struct {
	// Kind and Key name the resource.
	Kind, Key string
	// Controller is the field manager of the controller that reconciles the owner.
	Controller string
	// Owner and UID identify the owner.
	Owner types.NamespacedName
	UID   types.UID
	// Removed reports that the resource was removed, so that another owner may claim the key.
	Removed bool
}

func (c Claim) id() id { return id{c.Kind, c.Key} }

// Claims store the claims of external resources, at most one for a kind and key. Accounts that may only edit owners must not be able to
// write them.
type Claims interface {
	// List returns all claims.
	List(ctx context.Context) ([]Claim, error)
	// Get returns the claim of a kind and key, nil if there is none.
	Get(ctx context.Context, kind, key string) (*Claim, error)
	// Create stores a claim and returns nil. If a claim exists already, Create returns it and stores nothing.
	Create(ctx context.Context, claim Claim) (existing *Claim, err error)
	// MarkRemoved sets Removed in the claim of this kind, key and UID. It ignores a claim that does not exist or has another UID.
	MarkRemoved(ctx context.Context, claim Claim) error
	// Delete deletes the claim of this kind, key and UID. It ignores a claim that does not exist or has another UID.
	Delete(ctx context.Context, claim Claim) error
}

// MemoryClaims are [Claims] in memory, for tests.
type MemoryClaims struct {
	mu     sync.Mutex
	claims map[id]Claim
}

var _ Claims = (*MemoryClaims)(nil)

// List implements [Claims].
func (m *MemoryClaims) List(context.Context) ([]Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.claims)), nil
}

// Get implements [Claims].
func (m *MemoryClaims) Get(_ context.Context, kind, key string) (*Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.claims[id{kind, key}]; ok {
		return &found, nil
	}
	return nil, nil
}

// Create implements [Claims].
func (m *MemoryClaims) Create(_ context.Context, claim Claim) (*Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.claims[claim.id()]; ok {
		return &found, nil
	}
	if m.claims == nil {
		m.claims = map[id]Claim{}
	}
	m.claims[claim.id()] = claim
	return nil, nil
}

// MarkRemoved implements [Claims].
func (m *MemoryClaims) MarkRemoved(_ context.Context, claim Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.claims[claim.id()]; ok && found.UID == claim.UID {
		found.Removed = true
		m.claims[claim.id()] = found
	}
	return nil
}

// Delete implements [Claims].
func (m *MemoryClaims) Delete(_ context.Context, claim Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.claims[claim.id()]; ok && found.UID == claim.UID {
		delete(m.claims, claim.id())
	}
	return nil
}

// registry is the cache of the claims of one controller. The stored claims are authoritative: a claim of another process is read before
// it is used.
type registry struct {
	claims     Claims
	controller string
	// alive reports whether the owner of a claim of this controller exists.
	alive func(ctx context.Context, owner types.NamespacedName, uid types.UID) (bool, error)

	loading sync.Mutex // allows one concurrent list
	loaded  bool

	mu   sync.Mutex
	mine map[types.UID]map[id]bool // claims by owner; true if the resource was removed
}

// load reads all claims once. Until it succeeds, nothing is claimed or removed.
func (r *registry) load(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	if r.loaded {
		return nil
	}
	all, err := r.claims.List(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		r.note(&all[i])
	}
	r.loaded = true
	return nil
}

// note records a claim of an owner of this controller.
func (r *registry) note(c *Claim) {
	if c.Controller != r.controller {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mine[c.UID] == nil {
		r.mine[c.UID] = map[id]bool{}
	}
	r.mine[c.UID][c.id()] = c.Removed
}

func (r *registry) drop(i id, uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mine[uid], i)
	if len(r.mine[uid]) == 0 {
		delete(r.mine, uid)
	}
}

// forget drops a deleted owner from the cache.
func (r *registry) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mine, uid)
}

// of returns the resources of an owner, and those that were removed already.
func (r *registry) of(uid types.UID) (things, removed map[id]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	things, removed = map[id]bool{}, map[id]bool{}
	for i, gone := range r.mine[uid] {
		if gone {
			removed[i] = true
		} else {
			things[i] = true
		}
	}
	return things, removed
}

// holder reads the claim of a resource, nil if there is none.
func (r *registry) holder(ctx context.Context, i id) (*Claim, error) {
	found, err := r.claims.Get(ctx, i.kind, i.key)
	if err == nil && found != nil {
		r.note(found)
	}
	return found, err
}

// owned reports whether the stored claim of a resource belongs to the owner, and whether it belongs to another one.
func (r *registry) owned(ctx context.Context, i id, uid types.UID) (mine, others bool, err error) {
	found, err := r.holder(ctx, i)
	if err != nil {
		return false, false, err
	}
	mine = found != nil && found.UID == uid && found.Controller == r.controller
	if !mine {
		r.drop(i, uid)
	}
	return mine, found != nil && !mine, nil
}

// blocks reports whether a claim prevents another owner from claiming the same resource. The claim of a deleted owner does not.
func (r *registry) blocks(ctx context.Context, found *Claim, owner types.NamespacedName, uid types.UID) (bool, error) {
	switch {
	case found == nil || found.Removed:
		return false, nil
	case found.Controller != r.controller:
		return true, nil // this controller does not read the kind of its owner
	case found.UID == uid:
		return false, nil
	case r.alive == nil: // the name is unique, so a former owner of the name was deleted
		return found.Owner != owner, nil
	}
	return r.alive(ctx, found.Owner, found.UID) // the cache may show a former owner of the name
}

// claim stores the claim of an existing owner, or returns the blocking claim of another owner.
func (r *registry) claim(ctx context.Context, wanted Claim) (other *Claim, err error) {
	r.mu.Lock()
	removed, known := r.mine[wanted.UID][wanted.id()]
	r.mu.Unlock()
	if known && !removed {
		return nil, nil
	}
	for range 2 {
		found, err := r.claims.Create(ctx, wanted)
		if err != nil {
			return nil, err
		}
		if found == nil || found.UID == wanted.UID && found.Controller == wanted.Controller && !found.Removed {
			r.note(&wanted)
			return nil, nil
		}
		blocked, err := r.blocks(ctx, found, wanted.Owner, wanted.UID)
		if err != nil || blocked {
			return found, err
		}
		if err := r.claims.Delete(ctx, *found); err != nil {
			return nil, err
		}
		other = found
	}
	return other, nil // another owner was faster
}

// removed stores that a resource of the owner was removed.
func (r *registry) removed(ctx context.Context, c Claim) error {
	if err := r.claims.MarkRemoved(ctx, c); err != nil {
		return err
	}
	c.Removed = true
	r.note(&c)
	return nil
}

// release deletes the claim of an owner.
func (r *registry) release(ctx context.Context, c Claim) error {
	if err := r.claims.Delete(ctx, c); err != nil {
		return err
	}
	r.drop(c.id(), c.UID)
	return nil
}
