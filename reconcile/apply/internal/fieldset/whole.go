package fieldset

import "reflect"

// ownedWhole reports whether objects at this place are owned as a whole. Only then does an entry of managedFields without parts include
// the parts of the object. Otherwise the entry comes from a plan of an empty object, and the parts have another owner or none. Source:
// x-kubernetes-map-type in the OpenAPI documents of Kubernetes. For other kinds it is unknown.
func (s Schema) ownedWhole() bool {
	if s.source != sourceServer {
		return false
	}
	t := s.goType
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return s.whole || (t != nil && t.Kind() == reflect.Struct && wholeStruct(t.PkgPath(), t.Name()))
}

// partly reports whether the fields of objects at this place are certainly owned separately.
func (s Schema) partly() bool { return s.source == sourceServer && s.plain() != nil && !s.ownedWhole() }

func wholeStruct(path, name string) bool {
	switch path {
	case "k8s.io/apimachinery/pkg/apis/meta/v1":
		return name == "LabelSelector" || name == "OwnerReference"
	case "k8s.io/api/core/v1":
		return wholeInCore(name)
	case "k8s.io/api/rbac/v1":
		return name == "RoleRef" || name == "Subject"
	case "k8s.io/api/networking/v1":
		return name == "ServiceBackendPort"
	case "k8s.io/api/discovery/v1":
		return name == "EndpointPort"
	case "k8s.io/api/autoscaling/v1":
		return name == "CrossVersionObjectReference"
	case "k8s.io/api/admissionregistration/v1", "k8s.io/api/admissionregistration/v1beta1":
		switch name {
		case "MatchResources", "NamedRuleWithOperations", "ParamKind", "ParamRef", "Variable":
			return true
		}
	}
	return false
}

func wholeInCore(name string) bool {
	switch name {
	case "ConfigMapKeySelector", "EndpointAddress", "EndpointPort", "FileKeySelector", "LocalObjectReference", "NodeSelector",
		"NodeSelectorTerm", "ObjectFieldSelector", "ObjectReference", "ResourceFieldSelector", "ScopeSelector",
		"SecretKeySelector", "SecretReference", "TopologySelectorTerm", "TypedLocalObjectReference":
		return true
	}
	return false
}
