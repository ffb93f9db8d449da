package shards

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selection is which objects of a kind the informer of a process asks for. Two are equal when they ask for the same.
type Selection struct {
	shardSelector, otherShards string
	labelSelector, otherLabels string
	ownerLabels, ownerFields   string
}

// Within restricts the selection to objects with the labels and fields; empty restricts nothing. What else it does not select stays the same.
func (s Selection) Within(labels, fields string) Selection {
	s.ownerLabels, s.ownerFields = labels, fields
	return s
}

// ByLabel selects the objects whose label has the value.
func ByLabel(key, value string) Selection {
	return Selection{labelSelector: key + "=" + value, otherLabels: fmt.Sprintf("%s notin (%s)", key, value)}
}

// mine asks for what is selected. An API server that does not know shard selectors passes over them, and answers with all.
func (s Selection) mine(o *metav1.ListOptions) {
	s.ask(o, s.shardSelector, s.labelSelector)
	o.LabelSelector, o.FieldSelector = both(o.LabelSelector, s.ownerLabels), both(o.FieldSelector, s.ownerFields)
}

// both is the selector of what two selectors select, of which each may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// others asks for what is in no shard of this process, whether or not labels and fields would select it.
func (s Selection) others(o *metav1.ListOptions) { s.ask(o, s.otherShards, s.otherLabels) }

func (s Selection) ask(o *metav1.ListOptions, shards, labels string) {
	if s.shardSelector != "" {
		o.ShardSelector = shards
	}
	if s.labelSelector != "" {
		o.LabelSelector = labels
	}
}
