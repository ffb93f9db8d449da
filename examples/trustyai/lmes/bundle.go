package lmes

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/naming"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

const (
	bundleKey  = "merged-ca-bundle.crt"
	bundlePath = "/etc/ssl/certs/odh-ca-bundle.crt"
)

// authorities are the ConfigMaps with certificates, and their keys, in the order in which they are joined.
var authorities = []struct {
	configMap string
	keys      []string
}{
	{"odh-trusted-ca-bundle", []string{"ca-bundle.crt", "odh-ca-bundle.crt"}},
	{"openshift-service-ca.crt", []string{"service-ca.crt"}},
}

func bundleName(job *v1alpha1.LMEvalJob) string { return naming.DNSSubdomain(job.Name + "-ca-bundle") }

// verifies reports whether a job calls a model whose certificate is checked, and leaves it to the operator with what.
func verifies(spec *v1alpha1.LMEvalJobSpec) bool {
	secure := func(a v1alpha1.Argument) bool {
		return a.Name == "base_url" && strings.HasPrefix(strings.ToLower(a.Value), "https://")
	}
	own := func(a v1alpha1.Argument) bool { return a.Name == "verify_certificate" }
	return slices.ContainsFunc(spec.ModelArgs, secure) && !slices.ContainsFunc(spec.ModelArgs, own)
}

// merge joins the certificates that were found, empty for none.
func merge(found map[string]reconcile.FetchResult[*corev1.ConfigMap]) string {
	var parts []string
	for _, a := range authorities {
		configMap := found[a.configMap].Value
		if configMap == nil {
			continue
		}
		for _, key := range a.keys {
			if text := strings.TrimSpace(configMap.Data[key]); text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n") + "\n"
}
