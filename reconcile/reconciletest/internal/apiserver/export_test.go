package apiserver

import "k8s.io/apimachinery/pkg/runtime/schema"

// HasStatus reports whether the status of a kind is a subresource.
func (b *Blueprint) HasStatus(gvk schema.GroupVersionKind) bool { return b.withStatus[gvk] }
