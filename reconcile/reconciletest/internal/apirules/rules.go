package apirules

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the errors of a new object if old is nil, else those of an update of old.
func Validate(old, u *unstructured.Unstructured) field.ErrorList {
	if u.GetDeletionTimestamp() != nil {
		return nil // deletions are not validated closely
	}
	errs := metadata(old, u)
	kind := u.GroupVersionKind().GroupKind()
	if rule := required()[kind]; rule != nil {
		errs = append(errs, rule(u)...)
	}
	if old == nil {
		return errs
	}
	for _, path := range immutable()[kind] {
		errs = append(errs, unchanged(old, u, path)...)
	}
	return append(errs, frozen(old, u)...)
}

// metadata checks names, labels, annotations and owner references.
func metadata(old, u *unstructured.Unstructured) field.ErrorList {
	path := field.NewPath("metadata")
	var errs field.ErrorList
	if old == nil {
		for _, problem := range nameRule(u.GroupVersionKind().GroupKind())(u.GetName()) {
			errs = append(errs, field.Invalid(path.Child("name"), u.GetName(), problem))
		}
	}
	errs = append(errs, metav1validation.ValidateLabels(u.GetLabels(), path.Child("labels"))...)
	errs = append(errs, validation.ValidateAnnotations(u.GetAnnotations(), path.Child("annotations"))...)
	return append(errs, references(u.GetOwnerReferences(), path.Child("ownerReferences"))...)
}

// references checks owner references: each identifies an object completely, and at most one is the controller.
func references(all []metav1.OwnerReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	controllers := 0
	for i, ref := range all {
		for _, part := range [][2]string{
			{"apiVersion", ref.APIVersion}, {"kind", ref.Kind}, {"name", ref.Name}, {"uid", string(ref.UID)},
		} {
			if part[1] == "" {
				errs = append(errs, field.Invalid(path.Index(i).Child(part[0]), part[1], "must not be empty"))
			}
		}
		if ref.Controller != nil && *ref.Controller {
			controllers++
		}
	}
	if controllers > 1 {
		errs = append(errs, field.Invalid(path, "", "Only one reference can have Controller set to true"))
	}
	return errs
}

// nameRule returns the rule for the names of a kind.
func nameRule(kind schema.GroupKind) func(string) []string {
	switch kind {
	case schema.GroupKind{Kind: "Service"}:
		return utilvalidation.IsDNS1035Label
	case schema.GroupKind{Kind: "Namespace"}:
		return utilvalidation.IsDNS1123Label
	}
	if kind.Group == "rbac.authorization.k8s.io" {
		return func(name string) []string {
			if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
				return []string{"may not be '.' or '..', and may not contain '/' or '%'"}
			}
			return nil
		}
	}
	return utilvalidation.IsDNS1123Subdomain
}

// required returns the rules for required fields.
func required() map[schema.GroupKind]func(*unstructured.Unstructured) field.ErrorList {
	return map[schema.GroupKind]func(*unstructured.Unstructured) field.ErrorList{
		{Group: "apps", Kind: "Deployment"}:  workload,
		{Group: "apps", Kind: "StatefulSet"}: workload,
		{Group: "apps", Kind: "DaemonSet"}:   workload,
		{Kind: "ConfigMap"}:                  keys,
		{Kind: "Secret"}:                     keys,
	}
}

// workload checks that a workload has a valid selector that its template matches, and a non-negative number of replicas.
func workload(u *unstructured.Unstructured) field.ErrorList {
	spec := field.NewPath("spec")
	selector, found, _ := unstructured.NestedMap(u.Object, "spec", "selector")
	if !found {
		return field.ErrorList{field.Required(spec.Child("selector"), "")}
	}
	labels, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
	path := spec.Child("template", "metadata", "labels")
	errs := metav1validation.ValidateLabels(labels, path)
	if replicas, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); replicas < 0 {
		errs = append(errs, validation.ValidateNonnegativeField(replicas, spec.Child("replicas"))...)
	}
	wanted, _, _ := unstructured.NestedStringMap(selector, "matchLabels")
	for key, value := range wanted {
		if labels[key] != value {
			return append(errs, field.Invalid(path, labels, "`selector` does not match template `labels`"))
		}
	}
	return errs
}

// keys checks the keys of a ConfigMap's or Secret's data.
func keys(u *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"data", "binaryData"} {
		data, _, _ := unstructured.NestedMap(u.Object, name)
		for _, key := range slices.Sorted(maps.Keys(data)) {
			for _, problem := range utilvalidation.IsConfigMapKey(key) {
				errs = append(errs, field.Invalid(field.NewPath(name).Key(key), key, problem))
			}
		}
	}
	return errs
}

// immutable returns the immutable fields.
func immutable() map[schema.GroupKind][]string {
	return map[schema.GroupKind][]string{
		{Group: "apps", Kind: "Deployment"}:                              {"spec.selector"},
		{Group: "apps", Kind: "DaemonSet"}:                               {"spec.selector"},
		{Group: "apps", Kind: "StatefulSet"}:                             {"spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"},
		{Group: "batch", Kind: "Job"}:                                    {"spec.selector", "spec.template", "spec.completionMode"},
		{Kind: "PersistentVolumeClaim"}:                                  {"spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeMode", "spec.dataSource"},
		{Kind: "Secret"}:                                                 {"type"},
		{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        {"roleRef"},
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: {"roleRef"},
		{Group: "storage.k8s.io", Kind: "StorageClass"}:                  {"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:              {"value", "preemptionPolicy"},
	}
}

// unchanged rejects a change of a field. A field that was unset may be set, as the server itself does.
func unchanged(old, u *unstructured.Unstructured, path string) field.ErrorList {
	fields := strings.Split(path, ".")
	before, had, _ := unstructured.NestedFieldNoCopy(old.Object, fields...)
	after, has, _ := unstructured.NestedFieldNoCopy(u.Object, fields...)
	if !had || has && reflect.DeepEqual(before, after) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(fields[0], fields[1:]...), after, validation.FieldImmutableErrorMsg)}
}

// frozen rejects a change of an immutable ConfigMap or Secret.
func frozen(old, u *unstructured.Unstructured) field.ErrorList {
	if kind := u.GetKind(); u.GroupVersionKind().Group != "" || kind != "ConfigMap" && kind != "Secret" || old.Object["immutable"] != true {
		return nil
	}
	var errs field.ErrorList
	for _, name := range []string{"data", "binaryData", "immutable"} {
		if !reflect.DeepEqual(old.Object[name], u.Object[name]) {
			errs = append(errs, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
		}
	}
	return errs
}
