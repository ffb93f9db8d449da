// Package cabundle joins the certificates of authorities that a cluster has put into a namespace.
package cabundle

import (
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authorities are the ConfigMaps with certificates, and their keys, in the order in which they are joined.
var authorities = []struct {
	configMap string
	keys      []string
}{
	{"odh-trusted-ca-bundle", []string{"ca-bundle.crt", "odh-ca-bundle.crt"}},
	{"openshift-service-ca.crt", []string{"service-ca.crt"}},
}

// Found are the ConfigMaps that were read, by name.
type Found map[string]reconcile.FetchResult[*corev1.ConfigMap]

// Fetch reads the ConfigMaps of a namespace.
func Fetch(ctx context.Context, reader reconcile.Reader, namespace string) Found {
	found := Found{}
	for _, a := range authorities {
		found[a.configMap] = reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: namespace, Name: a.configMap}, &corev1.ConfigMap{})
	}
	return found
}

// Merge joins the certificates that were found and further ones, empty for none.
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
