package install

import (
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// Config is what an installation needs to know besides the page of the operator.
type Config struct {
	// Namespace is where the operator runs. Default the name of the page followed by "-system".
	Namespace string
	// Image is that of the operator. Default the name of the page with the tag "latest", which should be replaced by what a build
	// has pushed.
	Image string
	// Version is that of the chart and of the operator in it, as in SemVer without a v. It is the tag of an image that has none. Default "0.1.0".
	Version string
	// Args are arguments of the operator besides those for metrics, leader election, namespaces and certificates.
	Args []string
	// Env are variables of the environment of the operator. What depends on its namespace refers to the field metadata.namespace, as the
	// chart is installed into any.
	Env []corev1.EnvVar
	// Egress is what the operator may reach besides DNS and the ports 443 and 6443, where API servers listen. Nil does not restrict it; empty
	// allows nothing else. An API server that listens elsewhere needs a rule, too: what counts is the port behind its Service.
	Egress []networkingv1.NetworkPolicyEgressRule
	// CRDs is the folder with the manifests of the CRDs, one in each file whose name ends in .yaml, as os.DirFS("config/crd").
	// Nil installs none.
	CRDs fs.FS
	// Extra has further manifests that the installation needs, as os.DirFS("config/extra"), whose files *.yaml the kustomization lists and
	// the chart has as they are: what they name must not depend on the namespace. Nil has none.
	Extra fs.FS
	// CertManager leaves the certificate of the webhooks to cert-manager. Default the operator makes and renews it itself, see package
	// operator.
	CertManager bool
	// Aggregate decides for a kind, by its resource and group as in "websites.example.com", whether its editor role becomes part of the
	// roles edit and admin of Kubernetes. With true, every account that has edit in one namespace can create owners of the kind there, and
	// through them make the operator do whatever the operator may do, in other namespaces too.
	//
	// By default the editor role becomes part of them only if the page shows no way out of the owner's namespace. It does not if a
	// controller that reconciles or reads the kind may write RBAC, namespaces, webhooks or CRDs, or may impersonate; reconciles groups; deletes children
	// in Finalize; writes objects that it does not own; or creates owners of such a kind. A page does not have the namespaces of planned
	// objects: set false for a kind whose children are in other namespaces without any of these. The role itself exists in any case, to be
	// bound to the accounts that administer the operator.
	Aggregate map[string]bool
}
