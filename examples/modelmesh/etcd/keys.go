package etcd

import (
	"encoding/json"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Event names a vmodel that has changed.
type Event struct {
	Namespace, Name string
	// Source is the source of the vmodel, empty if it is unknown.
	Source string
}

// defaultSource is the source of vmodels that name none.
const defaultSource = "ksp"

// layout describes the keys of ModelMesh.
type layout struct {
	root, service string
	namespace     string // of the operator
	cluster       bool   // events of other namespaces count, too
}

func (l layout) own() string { return l.root + "/mm/" + l.service + "/" }

// bounds returns the first key of the range, and the key after its end.
func (l layout) bounds() (from, to string) {
	if !l.cluster {
		return l.own(), clientv3.GetPrefixRangeEnd(l.own())
	}
	return l.root + "/mm/", clientv3.GetPrefixRangeEnd(l.root + "/mm_ns/")
}

// event returns the event of a key that was put with the value, or deleted when it had the value. Most keys do not belong to a
// vmodel.
func (l layout) event(key string, value []byte, deleted bool) (e Event, ok bool, err error) {
	e.Namespace = l.namespace
	rest, found := strings.CutPrefix(key, l.own())
	if !found && l.cluster {
		var others bool
		rest, others = strings.CutPrefix(key, l.root+"/mm_ns/")
		e.Namespace, rest, _ = strings.Cut(rest, "/")
		rest, found = strings.CutPrefix(rest, "mm/"+l.service+"/")
		found = found && others
	}
	kind, id, _ := strings.Cut(rest, "/")
	switch {
	case !found || id == "":
		return e, false, nil
	case kind == "vmodels":
		e.Name = id
		e.Source, err = sourceOf(value, deleted)
		return e, err == nil, err
	case kind == "registry" && !deleted:
		e.Name, e.Source, ok = ofModel(id)
		return e, ok, nil
	}
	return e, false, nil
}

// sourceOf returns the source in the record of a vmodel.
func sourceOf(value []byte, deleted bool) (string, error) {
	var record struct {
		Owner string `json:"o"`
	}
	switch {
	case deleted && len(value) == 0:
		return "", nil
	case json.Unmarshal(value, &record) != nil:
		return "", fmt.Errorf("the record of a vmodel: want JSON, got %d other bytes", len(value))
	case record.Owner == "":
		return defaultSource, nil
	}
	return record.Owner, nil
}

// hashed is the length of the hash at the end of the id of a model.
const hashed = 10

// ofModel parses the id of a model that the operator has created: <vmodel>__<source>-<hash>.
func ofModel(id string) (name, source string, ok bool) {
	at := strings.LastIndex(id, "__")
	if at <= 0 {
		return "", "", false
	}
	name, rest := id[:at], id[at+2:]
	dash := len(rest) - hashed - 1
	if dash <= 0 || rest[dash] != '-' {
		return "", "", false
	}
	return name, rest[:dash], true
}
