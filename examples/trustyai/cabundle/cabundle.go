// Package cabundle merges the CA certificates that a cluster publishes in a namespace.
package cabundle

import (
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authorities lists the ConfigMaps with certificates, and their keys, in the order of the merge.
var authorities = []struct {
	configMap string
	keys      []string
}{
	{"odh-trusted-ca-bundle", []string{"ca-bundle.crt", "odh-ca-bundle.crt"}},
	{"openshift-service-ca.crt", []string{"service-ca.crt"}},
}

// Found contains the ConfigMaps that were read, by name.
type Found map[string]reconcile.FetchResult[*corev1.ConfigMap]

// Fetch reads the ConfigMaps of a namespace.
func Fetch(ctx context.Context, reader reconcile.Reader, namespace string) Found {
	found := Found{}
	for _, a := range authorities {
		found[a.configMap] = reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: namespace, Name: a.configMap}, &corev1.ConfigMap{})
	}
	return found
}

// Merge returns the certificates of the ConfigMaps and further ones, or the empty string.
func (f Found) Merge(further ...string) string {
	var parts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	for _, a := range authorities {
		if configMap := f[a.configMap].Value; configMap != nil {
			for _, key := range a.keys {
				add(configMap.Data[key])
			}
		}
	}
	for _, text := range further {
		add(text)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n") + "\n"
}
