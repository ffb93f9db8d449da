package shards

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selection is which objects of a kind the informer of a process asks for. Two are equal when they ask for the same.
type Selection struct {
	shardSelector, otherShards string
	labelSelector, otherLabels string
}

// ByLabel selects the objects whose label has the value.
func ByLabel(key, value string) Selection {
	return Selection{labelSelector: key + "=" + value, otherLabels: fmt.Sprintf("%s notin (%s)", key, value)}
}

// mine asks for what is selected. An API server that does not know shard selectors passes over them, and answers with all.
func (s Selection) mine(o *metav1.ListOptions) { s.ask(o, s.shardSelector, s.labelSelector) }

// others asks for what is not selected.
func (s Selection) others(o *metav1.ListOptions) { s.ask(o, s.otherShards, s.otherLabels) }

func (s Selection) ask(o *metav1.ListOptions, shards, labels string) {
	if s.shardSelector != "" {
		o.ShardSelector = shards
	}
	if s.labelSelector != "" {
		o.LabelSelector = labels
	}
}
