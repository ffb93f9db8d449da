package sparse

import (
	"encoding/hex"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// metadataOnly is the stored form of an object that no controller needs, about 80 bytes without labels and owners. It is immutable.
type metadataOnly struct {
	namespace, name string
	uid             [16]byte // unless more has it
	version         uint64   // unless more has it
	more            *more    // nil for most
}

// more has the fields that few objects have.
type more struct {
	uid      *types.UID // if it is not a UUID
	version  *string    // if it is not a number
	labels   map[string]string
	owners   []metav1.OwnerReference
	deletion *metav1.Time
}

var (
	_ metav1.ObjectMetaAccessor = (*metadataOnly)(nil)
	_ runtime.Object            = (*metadataOnly)(nil) // so that a list by label fails only for the objects that it selects
)

// reduce returns the stored form of an object.
func reduce(o metav1.Object, namespace string) *metadataOnly {
	m := &metadataOnly{namespace: namespace, name: strings.Clone(o.GetName())}
	var rest more
	var packed bool
	if m.uid, packed = packUID(o.GetUID()); !packed {
		rest.uid = new(o.GetUID())
	}
	version := o.GetResourceVersion()
	if number, err := strconv.ParseUint(version, 10, 64); err == nil && strconv.FormatUint(number, 10) == version {
		m.version = number
	} else {
		rest.version = &version
	}
	if labels := o.GetLabels(); len(labels) > 0 {
		rest.labels = labels
	}
	if owners := o.GetOwnerReferences(); len(owners) > 0 {
		rest.owners = owners
	}
	rest.deletion = o.GetDeletionTimestamp()
	if rest.uid != nil || rest.version != nil || rest.labels != nil || rest.owners != nil || rest.deletion != nil {
		m.more = &rest
	}
	return m
}

// packUID returns the bytes of a UUID in the format of the API server.
func packUID(uid types.UID) (packed [16]byte, ok bool) {
	digits := strings.ReplaceAll(string(uid), "-", "")
	if len(digits) != hex.EncodedLen(len(packed)) {
		return packed, false
	}
	if _, err := hex.Decode(packed[:], []byte(digits)); err != nil {
		return packed, false
	}
	return packed, unpackUID(packed) == uid
}

func unpackUID(packed [16]byte) types.UID {
	h := hex.EncodeToString(packed[:])
	return types.UID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

func (m *metadataOnly) identity() (uid types.UID, version string) {
	uid, version = unpackUID(m.uid), strconv.FormatUint(m.version, 10)
	if m.more != nil && m.more.uid != nil {
		uid = *m.more.uid
	}
	if m.more != nil && m.more.version != nil {
		version = *m.more.version
	}
	return uid, version
}

// GetObjectMeta returns a new copy of the stored metadata.
func (m *metadataOnly) GetObjectMeta() metav1.Object {
	o := &metav1.ObjectMeta{Namespace: m.namespace, Name: m.name}
	o.UID, o.ResourceVersion = m.identity()
	if m.more != nil {
		o.Labels, o.OwnerReferences, o.DeletionTimestamp = m.more.labels, m.more.owners, m.more.deletion
	}
	return o
}

// GetObjectKind returns an empty kind, because all objects of the store have the same one.
func (*metadataOnly) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns m, which is immutable.
func (m *metadataOnly) DeepCopyObject() runtime.Object { return m }

// partial returns the object in the form for events and indexes.
func (m *metadataOnly) partial(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	m.GetObjectMeta().(*metav1.ObjectMeta).DeepCopyInto(&o.ObjectMeta) //nolint:forcetypeassert // see there
	o.SetGroupVersionKind(kind)
	return o
}
