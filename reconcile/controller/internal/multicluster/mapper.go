package multicluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// splitMapper maps the kind of the owners with the mapper of one cluster and all other kinds with that of another one.
type splitMapper struct {
	meta.RESTMapper // of the other kinds
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
