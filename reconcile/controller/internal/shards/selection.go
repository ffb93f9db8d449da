package shards

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selection selects the objects of a kind for the informer of a process. Equal selections select the same objects.
type Selection struct {
	shardSelector, otherShards string
	labelSelector, otherLabels string
	ownerLabels, ownerFields   string
}

// Within returns the selection restricted to objects with the labels and fields. An empty argument restricts nothing. Others is unaffected.
func (s Selection) Within(labels, fields string) Selection {
	s.ownerLabels, s.ownerFields = labels, fields
	return s
}

// ByLabel selects the objects whose label has the value.
func ByLabel(key, value string) Selection {
	return Selection{labelSelector: key + "=" + value, otherLabels: fmt.Sprintf("%s notin (%s)", key, value)}
}

// mine sets the options for the selected objects. An API server that does not support shard selectors ignores them, and returns all
// objects.
func (s Selection) mine(o *metav1.ListOptions) {
	s.ask(o, s.shardSelector, s.labelSelector)
	o.LabelSelector, o.FieldSelector = both(o.LabelSelector, s.ownerLabels), both(o.FieldSelector, s.ownerFields)
}

// both returns the conjunction of two selectors. Each may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// others sets the options for objects in no shard of this process, regardless of labels and fields.
func (s Selection) others(o *metav1.ListOptions) { s.ask(o, s.otherShards, s.otherLabels) }

func (s Selection) ask(o *metav1.ListOptions, shards, labels string) {
	if s.shardSelector != "" {
		o.ShardSelector = shards
	}
	if s.labelSelector != "" {
		o.LabelSelector = labels
	}
}
