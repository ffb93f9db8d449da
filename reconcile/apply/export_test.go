package apply

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What follows lets the external tests reach pure logic.

// Intent is what would be sent for an object, without its identity.
func Intent(o client.Object) (map[string]any, error) {
	e := &Engine{encoder: &encoder{plans: &structPlans{}}}
	content, err := e.content(&Child{Object: o})
	if err != nil {
		return nil, err
	}
	stripIdentity(content)
	if _, secret := content["stringData"]; secret {
		mergeStringData(content)
	}
	return content, nil
}

// Hashes computes intent hashes that may be compared with each other.
type Hashes struct{ h *hasher }

// NewHashes returns a source of hashes.
func NewHashes() Hashes { return Hashes{newHasher(&structPlans{})} }

// Of is the hash of an object.
func (h Hashes) Of(o client.Object) uint64 { return h.h.child(&Child{Object: o}) }

// Projection is the hash of the owned part of a live object.
func (h Hashes) Projection(fields string, intent, live map[string]any) (uint64, error) {
	set, err := parseFieldSet([]byte(fields))
	if err != nil {
		return 0, err
	}
	return h.h.projection(set, intent, live), nil
}

// Differences are the paths at which live is not what intent wants.
func Differences(fields string, intent, live map[string]any) ([]string, error) {
	set, err := parseFieldSet([]byte(fields))
	if err != nil {
		return nil, err
	}
	var out []string
	all := comparison{report: func(d difference) { out = append(out, d.path) }}
	all.fields(nil, set, intent, live)
	first := comparison{}
	first.fields(nil, set, intent, live)
	if first.different != (len(out) > 0) {
		out = append(out, "the two ways of comparing disagree")
	}
	return out, nil
}

// CountFields counts the owned nodes of a field set.
func CountFields(fields []byte) (int, error) {
	set, err := parseFieldSet(fields)
	if err != nil {
		return 0, err
	}
	return set.count(), nil
}

func (s *fieldSet) count() int {
	n := 0
	if s.member {
		n++
	}
	for i := range s.fields {
		n += s.fields[i].set.count()
	}
	for i := range s.items {
		n += s.items[i].set.count()
	}
	return n
}

// Exported names of unexported logic.
var (
	EqualValues     = equalValues
	FormatGroupKind = formatGroupKinds
	ParseGroupKinds = parseGroupKinds
	MergePatch      = mergePatch
	Rank            = rank
	Backoff         = backoff
)

// Covers says whether a path covers one as the server writes it.
func (p Path) Covers(serverPath string) bool { return p.covers(serverPath) }

// Remove takes the value at the path out of content.
func (p Path) Remove(content map[string]any) { p.remove(content) }

// RoundTripContribution renders and parses one contribution.
func RoundTripContribution(gk schema.GroupKind, key types.NamespacedName) (schema.GroupKind, types.NamespacedName, error) {
	ids, err := parseContributions(formatContributions([]objectID{{gk, key}}))
	if err != nil || len(ids) != 1 {
		return schema.GroupKind{}, types.NamespacedName{}, err
	}
	return ids[0].gk, ids[0].key, nil
}

// ParseContributions says whether a value parses.
func ParseContributions(value string) error {
	_, err := parseContributions(value)
	return err
}

// RememberChildren fills the memory of an owner as n applied children would.
func RememberChildren(n int, name func(i int) (types.NamespacedName, types.UID, string)) any {
	o := &ownerMemory{children: map[objectID]*childMemory{}}
	for i := range n {
		key, uid, version := name(i)
		m := o.child(objectID{schema.GroupKind{Group: "apps", Kind: "Deployment"}, key})
		m.uid, m.version, m.proven = uid, version, true
	}
	return o
}
