package install

import (
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// Config has the settings of an installation that the page does not contain.
type Config struct {
	// Namespace is the namespace of the operator. Default the name of the page followed by "-system".
	Namespace string
	// Image is the image of the operator. Replace the default, the name of the page with the tag "latest", with an image
	// from a build.
	Image string
	// Version is the SemVer version of the chart and of its operator, without a "v". It is the tag of an Image without one.
	// Default "0.1.0".
	Version string
	// Args are additional arguments of the operator. The installation sets those for metrics, leader election, namespaces
	// and certificates.
	Args []string
	// Env are environment variables of the operator. Use a reference to the field metadata.namespace for values that depend
	// on the namespace, because a chart may be installed into any namespace.
	Env []corev1.EnvVar
	// Egress are the destinations that the operator may reach in addition to DNS and the ports 443 and 6443 of API servers.
	// Nil does not restrict egress; empty allows no other destination. An API server on another port needs a rule with the
	// port of its endpoints, not of its Service.
	Egress []networkingv1.NetworkPolicyEgressRule
	// CRDs is the folder with the manifests of the CRDs, one in each file *.yaml, as in os.DirFS("config/crd"). Nil
	// installs none.
	CRDs fs.FS
	// Extra is a folder with further manifests in files *.yaml, as in os.DirFS("config/extra"). The kustomization lists
	// them, and the chart contains them unchanged, so they must not depend on the namespace. Optional.
	Extra fs.FS
	// CertManager makes cert-manager issue the certificate of the webhooks. Default false: the operator creates and renews
	// it itself, see package operator.
	CertManager bool
	// Aggregate decides for a kind, by its resource and group as in "websites.example.com", whether its editor role is
	// aggregated to the roles edit and admin of Kubernetes. With true, every account with the role edit in one namespace
	// can create owners of the kind there, and through them use all permissions of the operator, in other namespaces too.
	//
	// By default the editor role is aggregated unless the page shows that the operator may write outside the owner's
	// namespace: if a controller that reconciles or reads the kind may write RBAC, namespaces, webhooks or CRDs, or may
	// impersonate; changes resources outside the cluster; reconciles groups; deletes children in Finalize; writes objects
	// that it does not own; or creates owners of such a kind. A page does not contain the namespaces of planned objects: set
	// false for a kind whose children are in other namespaces without any of these. The role always exists and can be bound
	// to the accounts that administer the operator.
	Aggregate map[string]bool
}
