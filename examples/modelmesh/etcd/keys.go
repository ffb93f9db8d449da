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
	// Source is whose the vmodel is; empty where nobody knows it any more.
	Source string
}

// defaultSource has the vmodels that name none.
const defaultSource = "ksp"

// layout is where ModelMesh keeps what it has.
type layout struct {
	root, service string
	namespace     string // of the operator
	cluster       bool   // other namespaces count, too
}

func (l layout) own() string { return l.root + "/mm/" + l.service + "/" }

// bounds are the first key, and the one after the last.
func (l layout) bounds() (from, to string) {
	if !l.cluster {
		return l.own(), clientv3.GetPrefixRangeEnd(l.own())
	}
	return l.root + "/mm/", clientv3.GetPrefixRangeEnd(l.root + "/mm_ns/")
}

// event reads a key that was put with the value, or deleted when it had the value. Most keys are about no vmodel.
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

// sourceOf reads the source of a vmodel out of its record.
func sourceOf(value []byte, deleted bool) (string, error) {
	var record struct {
		Owner string `json:"o"`
	}
	switch {
	case deleted && len(value) == 0:
		return "", nil
	case json.Unmarshal(value, &record) != nil:
		return "", fmt.Errorf("the record of a vmodel: want JSON, got %d bytes of something else", len(value))
	case record.Owner == "":
		return defaultSource, nil
	}
	return record.Owner, nil
}

// hashed is how long the hash at the end of the id of a model is.
const hashed = 10

// ofModel takes the id of a model apart that the operator has made: <vmodel>__<source>-<hash>.
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
