package engine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reference is an object that another object needs. An empty namespace is the namespace of the other object.
type reference struct {
	kind            schema.GroupKind
	namespace, name string
}

const rbacGroup = "rbac.authorization.k8s.io"

//nolint:gochecknoglobals // constants
var (
	serviceAccounts = schema.GroupKind{Kind: "ServiceAccount"}
	configMaps      = schema.GroupKind{Kind: "ConfigMap"}
	secrets         = schema.GroupKind{Kind: "Secret"}
	claims          = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	services        = schema.GroupKind{Kind: "Service"}
)

// referrer returns a planned child that refers to a member according to the API server, nil if there is none. It ignores references that
// this pass has removed.
func (p *pruning) referrer(m memberObject) *child {
	if p.finalize {
		return nil
	}
	for _, c := range p.children {
		o := c.answer
		if o == nil && !c.recall.Hidden {
			o = c.live
		}
		if o == nil || c.kind == nil || c.kind.Metadata || (c.answer == nil && c.result.Wrote()) {
			continue
		}
		content, err := p.env.encoder.Live(o)
		if err != nil {
			continue
		}
		for _, r := range references(c.id.GroupKind, content) {
			namespace := r.namespace
			if namespace == "" && m.id.Key.Namespace != "" {
				namespace = c.id.Key.Namespace
			}
			if r.kind == m.id.GroupKind && r.name == m.id.Key.Name && namespace == m.id.Key.Namespace {
				return c
			}
		}
	}
	return nil
}

// references returns the objects that an object needs: those of its Pods, the role and the accounts of a binding, the backends of a route.
// Optional references are omitted.
func references(gk schema.GroupKind, content map[string]any) []reference { //nolint:funlen,gocyclo // one case for each kind
	var out []reference
	add := func(kind schema.GroupKind, namespace string, from any, path ...string) {
		m, _ := from.(map[string]any)
		name, _, _ := unstructured.NestedString(m, path...)
		parent, _, _ := unstructured.NestedFieldNoCopy(m, path[:len(path)-1]...)
		options, _ := parent.(map[string]any)
		if optional, _ := options["optional"].(bool); name != "" && !optional {
			out = append(out, reference{kind: kind, namespace: namespace, name: name})
		}
	}
	switch gk {
	case schema.GroupKind{Group: rbacGroup, Kind: "RoleBinding"}, schema.GroupKind{Group: rbacGroup, Kind: "ClusterRoleBinding"}:
		kind, _, _ := unstructured.NestedString(content, "roleRef", "kind")
		add(schema.GroupKind{Group: rbacGroup, Kind: kind}, "", content, "roleRef", "name")
		for _, subject := range itemsAt(content, "subjects") {
			if kind, _, _ := unstructured.NestedString(subject, "kind"); kind == serviceAccounts.Kind {
				namespace, _, _ := unstructured.NestedString(subject, "namespace")
				add(serviceAccounts, namespace, subject, "name")
			}
		}
		return out
	case schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}:
		add(services, "", content, "spec", "defaultBackend", "service", "name")
		for _, tls := range itemsAt(content, "spec", "tls") {
			add(secrets, "", tls, "secretName")
		}
		for _, rule := range itemsAt(content, "spec", "rules") {
			for _, path := range itemsAt(rule, "http", "paths") {
				add(services, "", path, "backend", "service", "name")
			}
		}
		return out
	case schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}:
		for _, rule := range itemsAt(content, "spec", "rules") {
			for _, backend := range itemsAt(rule, "backendRefs") {
				kind, _, _ := unstructured.NestedString(backend, "kind")
				group, _, _ := unstructured.NestedString(backend, "group")
				namespace, _, _ := unstructured.NestedString(backend, "namespace")
				if kind == "" {
					kind = services.Kind
				}
				add(schema.GroupKind{Group: group, Kind: kind}, namespace, backend, "name")
			}
		}
		return out
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		add(services, "", content, "spec", "serviceName")
	}
	spec := podSpec(content)
	add(serviceAccounts, "", spec, "serviceAccountName")
	add(serviceAccounts, "", spec, "serviceAccount")
	for _, secret := range itemsAt(spec, "imagePullSecrets") {
		add(secrets, "", secret, "name")
	}
	for _, volume := range itemsAt(spec, "volumes") {
		add(configMaps, "", volume, "configMap", "name")
		add(secrets, "", volume, "secret", "secretName")
		add(claims, "", volume, "persistentVolumeClaim", "claimName")
		for _, source := range itemsAt(volume, "projected", "sources") {
			add(configMaps, "", source, "configMap", "name")
			add(secrets, "", source, "secret", "name")
		}
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range itemsAt(spec, list) {
			for _, env := range itemsAt(container, "env") {
				add(configMaps, "", env, "valueFrom", "configMapKeyRef", "name")
				add(secrets, "", env, "valueFrom", "secretKeyRef", "name")
			}
			for _, env := range itemsAt(container, "envFrom") {
				add(configMaps, "", env, "configMapRef", "name")
				add(secrets, "", env, "secretRef", "name")
			}
		}
	}
	return out
}

// podSpec returns the spec of the Pods that an object creates, nil if it creates none.
func podSpec(content map[string]any) map[string]any {
	for _, path := range [][]string{{"spec", "jobTemplate", "spec", "template", "spec"}, {"spec", "template", "spec"}, {"spec"}} {
		value, _, _ := unstructured.NestedFieldNoCopy(content, path...)
		if spec, ok := value.(map[string]any); ok && spec["containers"] != nil {
			return spec
		}
	}
	return nil
}

// itemsAt returns the objects of a list.
func itemsAt(content any, path ...string) []map[string]any {
	m, _ := content.(map[string]any)
	value, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	list, _ := value.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}
