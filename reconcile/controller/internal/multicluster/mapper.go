package multicluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// splitMapper looks for the kind of the owners in one cluster and for all others in another one.
type splitMapper struct {
	meta.RESTMapper // of the others
	*splitter

	ownersIn meta.RESTMapper
}

func (m *splitMapper) of(kind schema.GroupKind) meta.RESTMapper {
	if m.ownersKind(kind) {
		return m.ownersIn
	}
	return m.RESTMapper
}

// RESTMapping returns the resource of a kind.
func (m *splitMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.of(kind).RESTMapping(kind, versions...)
}

// RESTMappings returns the resources of a kind.
func (m *splitMapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return m.of(kind).RESTMappings(kind, versions...)
}
