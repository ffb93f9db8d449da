package intent

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// Marks are the labels, annotations and references that the engine adds to a planned object.
type Marks struct {
	// PartOf is the value of the part-of label; Group is the value of the group annotation; empty for none.
	PartOf, Group string
	// Shared marks an object that several owners share; Sharing is the group that has a part in it, empty for none.
	Shared  bool
	Sharing string
	// After is the value of the annotation with the objects that the child is deleted before, empty for none.
	After string
	// Owner is the controller reference, nil for none.
	Owner map[string]any
}

// sharedValue is the same for all owners, so that all can own it.
const sharedValue = "true"

// Body returns the content that is sent for a child, without the object's identity.
func Body(e *content.Encoder, c *apply.Child, gk schema.GroupKind, rules []Rule, m Marks) (map[string]any, error) {
	body, err := e.Planned(Written(c), gk == schema.GroupKind{Kind: "Secret"})
	if err != nil {
		return nil, err
	}
	if err := checkMetadata(body); err != nil {
		return nil, err
	}
	for i := range rules {
		if rule := &rules[i]; rule.Policy == apply.FieldIgnore || rule.Policy == apply.FieldAbsent {
			rule.Path.Remove(body)
		}
	}
	leaveAggregated(gk, body)
	dropEmptyMetadata(body)
	m.Add(body) // rules do not apply to the marks
	return body, nil
}

// leaveAggregated removes the rules of an aggregated ClusterRole. The control plane sets them and overwrites other values. Published
// manifests contain an empty list there. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
func leaveAggregated(gk schema.GroupKind, body map[string]any) {
	if rule, _ := body["aggregationRule"].(map[string]any); len(rule) > 0 && gk == (schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRole"}) {
		delete(body, "rules")
	}
}

// checkMetadata returns an error for metadata of wrong types, which unstructured content may have.
func checkMetadata(body map[string]any) error {
	given, exists := body["metadata"]
	metadata, ok := given.(map[string]any)
	if exists && !ok {
		return PlanError(fmt.Sprintf("child: metadata is of type %T, want an object", given))
	}
	for _, name := range []string{"labels", "annotations"} {
		if value, exists := metadata[name]; exists {
			if _, ok := value.(map[string]any); !ok {
				return PlanError(fmt.Sprintf("child: metadata.%s is of type %T, want an object", name, value))
			}
		}
	}
	if value, exists := metadata["ownerReferences"]; exists {
		if _, ok := value.([]any); !ok {
			return PlanError(fmt.Sprintf("child: metadata.ownerReferences is of type %T, want a list", value))
		}
	}
	return nil
}

// dropEmptyMetadata removes empty labels and annotations: the server does not store them, and treats each apply of one as a change.
func dropEmptyMetadata(body map[string]any) {
	metadata, ok := body["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"labels", "annotations"} {
		if m, ok := metadata[name].(map[string]any); ok && len(m) == 0 {
			delete(metadata, name)
		}
	}
	if len(metadata) == 0 {
		delete(body, "metadata")
	}
}

// Add adds the marks to the body.
func (m Marks) Add(body map[string]any) {
	if m.PartOf != "" {
		below(below(body, "metadata"), "labels")[applyset.PartOfLabel] = m.PartOf
	}
	if m.Group != "" {
		below(below(body, "metadata"), "annotations")[apply.GroupAnnotation] = m.Group
	}
	if m.Shared {
		below(below(body, "metadata"), "annotations")[applyset.SharedAnnotation] = sharedValue
	}
	if m.Sharing != "" {
		below(below(body, "metadata"), "annotations")[groupkey.SharingAnnotation(m.Sharing)] = m.Sharing
	}
	if m.After != "" {
		below(below(body, "metadata"), "annotations")[applyset.AfterAnnotation] = m.After
	}
	if m.Owner != nil {
		addOwner(below(body, "metadata"), m.Owner)
	}
}

// below returns the map with this name, and creates a missing one.
func below(m map[string]any, name string) map[string]any {
	out, ok := m[name].(map[string]any)
	if !ok {
		out = map[string]any{}
		m[name] = out
	}
	return out
}

func addOwner(metadata, owner map[string]any) {
	refs, _ := metadata["ownerReferences"].([]any)
	kept := make([]any, 0, len(refs)+1)
	for _, ref := range refs {
		if m, ok := ref.(map[string]any); !ok || m["uid"] != owner["uid"] {
			kept = append(kept, ref)
		}
	}
	metadata["ownerReferences"] = append(kept, owner)
}

// Rules parses the field rules of a planned object with the schema.
func Rules(fields []apply.FieldRule, mode apply.Mode, schema fieldset.Schema) ([]Rule, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	rules := make([]Rule, 0, len(fields))
	for _, field := range fields {
		path, err := fieldset.ParsePath(field.Path)
		if err != nil {
			return nil, fmt.Errorf("field rule: %w", err)
		}
		if field.Policy == apply.FieldAbsent && !removable(path) {
			return nil, errNotRemovable(path)
		}
		if field.Policy == apply.FieldCreateOnly && holdsMarks(path, mode) {
			return nil, errSentOnce(path)
		}
		rules = append(rules, Rule{Path: schema.Selecting(path), Policy: field.Policy})
	}
	return rules, nil
}
