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

// id identifies one resource of a controller.
type id struct{ kind, key string }

func (i id) String() string { return fmt.Sprintf("%s %q", i.kind, i.key) }

func compareIDs(a, b id) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.key, b.key)) }

// set is a set of resources: those that may exist, and the markers of effects that have happened.
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

// stored is the format of a set in the annotation of an owner: its UID, and the keys of each kind, sorted. Annotations of earlier
// versions have no UID.
type stored struct {
	UID     types.UID           `json:"uid,omitempty"`
	Things  map[string][]string `json:"things,omitempty"`
	Markers map[string][]string `json:"markers,omitempty"`
}

// maxAnnotation is the maximum size of the annotation; Kubernetes allows 256 KiB for all annotations of an object.
const maxAnnotation = 128 << 10

// encode returns the value of the annotation. Equal sets have equal values.
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

// decode parses the value of the annotation. The UID is empty in an annotation of an earlier version.
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

// annotation returns the name of a controller's annotation. It contains a hash of the field manager, because not every field manager is
// valid in a name.
func annotation(domain, manager string) string {
	sum := sha256.Sum256([]byte(manager))
	return hex.EncodeToString(sum[:5]) + "." + domain + "/" + annotationName
}

const annotationName = "external"

// provenBy reports whether managedFields name the manager as the writer of the annotation. This is not a proof, because any account may
// use the name, but it detects an annotation that was copied with its object.
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
