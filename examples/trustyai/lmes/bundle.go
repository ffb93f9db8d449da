package lmes

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/naming"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

const (
	bundleKey  = "merged-ca-bundle.crt"
	bundlePath = "/etc/ssl/certs/odh-ca-bundle.crt"
)

func bundleName(job *v1alpha1.LMEvalJob) string { return naming.DNSSubdomain(job.Name + "-ca-bundle") }

// verifies reports whether a job calls a model whose certificate is checked, with the certificates that the operator provides.
func verifies(spec *v1alpha1.LMEvalJobSpec) bool {
	secure := func(a v1alpha1.Argument) bool {
		return a.Name == "base_url" && strings.HasPrefix(strings.ToLower(a.Value), "https://")
	}
	own := func(a v1alpha1.Argument) bool { return a.Name == "verify_certificate" }
	return slices.ContainsFunc(spec.ModelArgs, secure) && !slices.ContainsFunc(spec.ModelArgs, own)
}
