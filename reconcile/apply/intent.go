package apply

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hashChild is the hash of everything that decides what a child should be.
func (h *hasher) child(c *Child) uint64 {
	s := h.start()
	if c.Object != nil {
		if u, ok := c.Object.(runtime.Unstructured); ok {
			h.content(s, u.UnstructuredContent())
		} else {
			h.value(s, reflect.ValueOf(c.Object))
		}
	} else {
		h.value(s, reflect.ValueOf(c.Configuration))
	}
	h.childRules(s, c)
	return h.finish(s)
}

func (*hasher) childRules(s *maphash.Hash, c *Child) {
	writeUint(s, uint64(c.Mode)<<8|uint64(c.Adoption)) //nolint:gosec // small enumerations
	for i := range c.Fields {
		writeString(s, c.Fields[i].Path)
		writeUint(s, uint64(c.Fields[i].Policy)) //nolint:gosec // a small enumeration
	}
}

// compile renders what is sent for a child, without the object's identity.
func (p *pass) compile(c *planned) (map[string]any, error) {
	content, err := p.engine.content(c.child)
	if err != nil {
		return nil, err
	}
	if err := c.parseRules(); err != nil {
		return nil, err
	}
	stripIdentity(content)
	if c.kind.gvk.GroupKind() == (schema.GroupKind{Kind: "Secret"}) {
		mergeStringData(content)
	}
	if c.member() {
		setNested(content, p.id, "metadata", "labels", PartOfLabel)
	}
	if c.member() && p.group != nil {
		value := GroupValue(p.ownerKind.gvk.Kind, client.ObjectKeyFromObject(p.owner))
		setNested(content, value, "metadata", "annotations", GroupAnnotation)
	}
	if c.reach {
		p.addOwner(content)
	}
	for _, rule := range c.rules {
		if rule.policy == IgnoreField {
			rule.path.remove(content)
		}
	}
	return content, nil
}

// content is the unstructured content of what the author has set.
func (e *Engine) content(c *Child) (map[string]any, error) {
	if c.Configuration != nil {
		return e.encoder.object(c.Configuration)
	}
	if u, ok := c.Object.(runtime.Unstructured); ok {
		content, _ := withoutNulls(u.UnstructuredContent()).(map[string]any)
		if m, ok := content["status"].(map[string]any); ok && len(m) == 0 {
			delete(content, "status")
		}
		return content, nil
	}
	content, err := e.encoder.object(c.Object)
	if err != nil {
		return nil, err
	}
	// Some types serialise the zero counters of an empty status.
	if status := reflect.ValueOf(c.Object).Elem().FieldByName("Status"); status.IsValid() && status.IsZero() {
		delete(content, "status")
	}
	return content, nil
}

// withoutNulls copies unstructured content and leaves nulls out.
func withoutNulls(value any) any {
	switch x := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			if v != nil {
				out[k] = withoutNulls(v)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(x))
		for _, v := range x {
			if v != nil {
				out = append(out, withoutNulls(v))
			}
		}
		return out
	case int:
		return int64(x)
	case int32:
		return int64(x)
	case float32:
		return float64(x)
	}
	return value
}

// stripIdentity removes what names the object and what only the server sets.
func stripIdentity(content map[string]any) {
	delete(content, "apiVersion")
	delete(content, "kind")
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return
	}
	for name := range metadata {
		switch name {
		case "labels", "annotations", "ownerReferences", "finalizers":
		default:
			delete(metadata, name)
		}
	}
	if len(metadata) == 0 {
		delete(content, "metadata")
	}
}

// mergeStringData moves the write-only stringData of a Secret to data, where
// it can be owned and compared.
func mergeStringData(content map[string]any) {
	text, ok := content["stringData"].(map[string]any)
	if !ok {
		return
	}
	delete(content, "stringData")
	for name, value := range text {
		if s, ok := value.(string); ok {
			setNested(content, base64.StdEncoding.EncodeToString([]byte(s)), "data", name)
		}
	}
}

func (p *pass) addOwner(content map[string]any) {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		content["metadata"] = metadata
	}
	refs, _ := metadata["ownerReferences"].([]any)
	kept := make([]any, 0, len(refs)+1)
	for _, ref := range refs {
		if m, ok := ref.(map[string]any); !ok || m["uid"] != string(p.owner.GetUID()) {
			kept = append(kept, ref)
		}
	}
	metadata["ownerReferences"] = append(kept, map[string]any{
		"apiVersion":         p.ownerKind.gvk.GroupVersion().String(),
		"kind":               p.ownerKind.gvk.Kind,
		"name":               p.owner.GetName(),
		"uid":                string(p.owner.GetUID()),
		"controller":         true,
		"blockOwnerDeletion": true,
	})
}

func setNested(content map[string]any, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		below, ok := content[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			content[name] = below
		}
		content = below
	}
	content[path[len(path)-1]] = value
}

// parsedRule is a field rule with its path parsed.
type parsedRule struct {
	path   Path
	policy FieldPolicy
}

func (c *planned) parseRules() error {
	if c.rules != nil {
		return nil
	}
	for _, rule := range c.child.Fields {
		path, err := ParsePath(rule.Path)
		if err != nil {
			return fmt.Errorf("field rule: %w", err)
		}
		c.rules = append(c.rules, parsedRule{path, rule.Policy})
	}
	return nil
}

// body renders content as the body of an apply. A UID makes the server refuse
// to touch any other object, and to create one.
func body(content map[string]any, gvk schema.GroupVersionKind, key types.NamespacedName, uid types.UID) ([]byte, error) {
	out := make(map[string]any, len(content)+2)
	maps.Copy(out, content)
	metadata := map[string]any{"name": key.Name}
	if given, ok := content["metadata"].(map[string]any); ok {
		maps.Copy(metadata, given)
	}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	if uid != "" {
		metadata["uid"] = string(uid)
	}
	out["apiVersion"], out["kind"] = gvk.ToAPIVersionAndKind()
	out["metadata"] = metadata
	return json.Marshal(out)
}

// liveContent is the content of an object as the API server sent it.
func (e *Engine) liveContent(o client.Object) (map[string]any, error) {
	if u, ok := o.(runtime.Unstructured); ok {
		return u.UnstructuredContent(), nil
	}
	return e.encoder.object(o)
}

// ownEntry returns the entry of a manager's applies, nil if there is none.
func ownEntry(entries []metav1.ManagedFieldsEntry, manager string) *metav1.ManagedFieldsEntry {
	for i := range entries {
		e := &entries[i]
		if e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e
		}
	}
	return nil
}
