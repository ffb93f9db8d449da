package external

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// id names one thing of a controller.
type id struct{ kind, key string }

func (i id) String() string { return fmt.Sprintf("%s %q", i.kind, i.key) }

func compareIDs(a, b id) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.key, b.key)) }

// set are things: those that may exist, and the markers of effects that have happened.
type set struct {
	things  map[id]bool
	markers map[id]bool
}

func newSet() set { return set{things: map[id]bool{}, markers: map[id]bool{}} }

func (s set) empty() bool { return len(s.things)+len(s.markers) == 0 }

func (s set) clone() set { return set{things: maps.Clone(s.things), markers: maps.Clone(s.markers)} }

func (s set) equal(other set) bool {
	return maps.Equal(s.things, other.things) && maps.Equal(s.markers, other.markers)
}

func sorted(ids map[id]bool) []id { return slices.SortedFunc(maps.Keys(ids), compareIDs) }

// stored is the form of a set in the annotation of an owner: its UID, and the keys of each kind, sorted. Annotations of earlier versions have no UID.
type stored struct {
	UID     types.UID           `json:"uid,omitempty"`
	Things  map[string][]string `json:"things,omitempty"`
	Markers map[string][]string `json:"markers,omitempty"`
}

// maxAnnotation bounds what an owner remembers: Kubernetes allows 256 KiB of annotations in all.
const maxAnnotation = 128 << 10

// encode is the value of the annotation; the same set has one value.
func (s set) encode(uid types.UID) (string, error) {
	if s.empty() {
		return "", nil
	}
	data, err := json.Marshal(stored{UID: uid, Things: byKind(s.things), Markers: byKind(s.markers)})
	if err == nil && len(data) > maxAnnotation {
		err = fmt.Errorf("the keys of %d things take %d bytes, more than the %d that an owner can remember",
			len(s.things)+len(s.markers), len(data), maxAnnotation)
	}
	return string(data), err
}

func byKind(ids map[id]bool) map[string][]string {
	out := map[string][]string{}
	for _, i := range sorted(ids) {
		out[i.kind] = append(out[i.kind], i.key)
	}
	return out
}

// decode reads the value of the annotation. The UID is empty in an annotation of an earlier version.
func decode(value string) (out set, uid types.UID, err error) {
	out = newSet()
	if value == "" {
		return out, "", nil
	}
	if len(value) > maxAnnotation {
		return out, "", fmt.Errorf("%d bytes, more than %d", len(value), maxAnnotation)
	}
	var in stored
	if err := json.Unmarshal([]byte(value), &in); err != nil {
		return out, "", err
	}
	fill(out.things, in.Things)
	fill(out.markers, in.Markers)
	return out, in.UID, nil
}

func fill(ids map[id]bool, in map[string][]string) {
	for kind, keys := range in {
		for _, key := range keys {
			ids[id{kind, key}] = true
		}
	}
}

// annotation is the name under which a controller remembers. Not every field manager can be part of a name; a hash of it can.
func annotation(domain, manager string) string {
	sum := sha256.Sum256([]byte(manager))
	return hex.EncodeToString(sum[:5]) + "." + domain + "/" + annotationName
}

const annotationName = "external"

// provenBy reports whether managedFields name the manager as the writer of the annotation. They are no proof, as any account may use the name;
// they tell an annotation that was copied with its object from one that was not.
func provenBy(o metav1.Object, name, manager string) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Annotations map[string]json.RawMessage `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			continue
		}
		if _, ours := fields.Metadata.Annotations["f:"+name]; ours {
			return true
		}
	}
	return false
}
