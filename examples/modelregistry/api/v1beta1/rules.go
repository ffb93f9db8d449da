package v1beta1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The maximum lengths that are added to the name of a registry in derived names and label values.
const (
	roleAffix       = "registry-user-"
	proxySuffix     = "-kube-rbac-proxy-config"
	databaseSuffix  = "-postgres-storage"
	maxDerivedNames = validation.LabelValueMaxLength
)

// MigrateProxy moves the settings of the deprecated proxy to its replacement. It does not copy the image, which belongs to another
// program.
func (s *ModelRegistrySpec) MigrateProxy() {
	if s.OAuthProxy == nil || s.KubeRBACProxy != nil { // both is for the schema to refuse
		return
	}
	s.KubeRBACProxy, s.OAuthProxy = s.OAuthProxy, nil
	s.KubeRBACProxy.Image = ""
}

// DropEmptyDatabases removes databases that have no server and request none.
func (s *ModelRegistrySpec) DropEmptyDatabases() {
	if p := s.Postgres; p != nil && p.Host == "" && p.HostAddress == "" && !p.Generated() {
		s.Postgres = nil
	}
	if s.MySQL != nil && s.MySQL.Host == "" {
		s.MySQL = nil
	}
}

// Default sets the defaults of a registry during admission. While the status does not record the defaults in effect, an image of the
// operator's own repository and the resources of the same container count as copies of the operator's defaults.
func (m *ModelRegistry) Default(restImage string) {
	m.Spec.DropEmptyDatabases()
	m.Spec.MigrateProxy()
	if p := m.Spec.KubeRBACProxy; p != nil && p.ServiceRoute == "" {
		p.ServiceRoute = RouteEnabled
	}
	if d := m.Status.SpecDefaults; d != "" && d != "{}" {
		return
	}
	if m.Spec.Rest.Image != "" && repository(m.Spec.Rest.Image) == repository(restImage) {
		m.Spec.Rest.Image, m.Spec.Rest.Resources = "", nil
	}
}

// repository returns an image reference without tag and digest. A colon before the last slash belongs to the port of the server.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon]
	}
	return image
}

// Validate returns the errors that the schema cannot detect. If the namespace is empty, a registry may be in any namespace.
func (m *ModelRegistry) Validate(namespace string) field.ErrorList {
	problems := m.Spec.Validate()
	if namespace != "" && m.Namespace != namespace {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "namespace"), m.Namespace, "namespace must be "+namespace))
	}
	return problems
}

// Validate returns the errors in the databases.
func (s *ModelRegistrySpec) Validate() field.ErrorList {
	var problems field.ErrorList
	path := field.NewPath("spec")
	if s.Postgres == nil && s.MySQL == nil {
		const message = "required one of `postgres` or `mysql` database"
		problems = append(problems, field.Required(path.Child("postgres"), message), field.Required(path.Child("mysql"), message))
	}
	if p := s.Postgres; p.Generated() && p.Host+p.HostAddress != "" {
		problems = append(problems, field.Invalid(path.Child("postgres", "host"), p.Host+p.HostAddress,
			"host should not be set when auto-provisioning is enabled"))
	}
	return problems
}

// ValidateName checks that the names and labels that are derived from the name of a registry are valid.
func (m *ModelRegistry) ValidateName() field.ErrorList {
	longest := len(roleAffix)
	if m.Spec.KubeRBACProxy != nil || m.Spec.OAuthProxy != nil {
		longest = len(proxySuffix)
	} else if m.Spec.Postgres.Generated() {
		longest = len(databaseSuffix)
	}
	path := field.NewPath("metadata", "name")
	var problems field.ErrorList
	for _, message := range validation.IsDNS1035Label(m.Name) {
		problems = append(problems, field.Invalid(path, m.Name, message))
	}
	if most := maxDerivedNames - longest; len(m.Name) > most {
		problems = append(problems, field.TooLong(path, m.Name, most))
	}
	return problems
}
