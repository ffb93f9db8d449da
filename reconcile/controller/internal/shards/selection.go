package shards

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selection selects the objects of a kind for the informer of a process. Equal selections select the same objects.
type Selection struct {
	shardSelector, labelSelector string
	ownerLabels, ownerFields     string
}

// Within returns the selection restricted to objects with the labels and fields. An empty argument restricts nothing.
func (s Selection) Within(labels, fields string) Selection {
	s.ownerLabels, s.ownerFields = labels, fields
	return s
}

// ByLabel selects the objects whose label has the value.
func ByLabel(key, value string) Selection {
	return Selection{labelSelector: key + "=" + value}
}

// mine sets the options for the selected objects. An API server that does not support shard selectors ignores them, and returns all
// objects.
func (s Selection) mine(o *metav1.ListOptions) {
	if s.shardSelector != "" {
		o.ShardSelector = s.shardSelector
	}
	o.LabelSelector = both(both(o.LabelSelector, s.labelSelector), s.ownerLabels)
	o.FieldSelector = both(o.FieldSelector, s.ownerFields)
}

// both returns the conjunction of two selectors. Each may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}
