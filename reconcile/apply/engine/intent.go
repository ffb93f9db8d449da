package engine

import (
	"fmt"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// hasher computes the hashes that are remembered.
type hasher struct{ compare.Hasher }

func newHasher(e *content.Encoder) *hasher {
	return &hasher{compare.Hasher{Hasher: content.NewHasher(e)}}
}

// child is the hash of everything that decides what a child should be: the
// object, and what else its plan says about it.
func (h *hasher) child(c *apply.Child) uint64 {
	s := h.Start()
	if u, ok := c.Object.(runtime.Unstructured); ok {
		_ = s.WriteByte(content.TagMap)
		h.Content(s, u.UnstructuredContent())
	} else {
		_ = s.WriteByte(content.TagSome)
		h.Object(s, written(c))
	}
	h.childRules(s, c)
	return h.Finish(s)
}

func (*hasher) childRules(s *maphash.Hash, c *apply.Child) {
	content.WriteUint(s, uint64(c.Mode)<<8|uint64(c.Adoption)) //nolint:gosec // small enumerations
	for _, option := range []bool{c.Recreate, c.Existing} {
		if option {
			_ = s.WriteByte(content.TagTrue)
		} else {
			_ = s.WriteByte(content.TagNil)
		}
	}
	content.WriteUint(s, uint64(len(c.Fields)))
	for i := range c.Fields {
		content.WriteString(s, c.Fields[i].Path)
		content.WriteUint(s, uint64(c.Fields[i].Policy)) //nolint:gosec // a small enumeration
	}
}

// compile renders what is sent for a child, without the object's identity.
func (p *pass) compile(c *planned) (map[string]any, error) {
	body, err := p.engine.encoder.Intent(written(c.child))
	if err != nil {
		return nil, err
	}
	if err := c.parseRules(); err != nil {
		return nil, err
	}
	content.StripIdentity(body)
	dropEmptyMetadata(body)
	if c.kind.gvk.GroupKind() == (schema.GroupKind{Kind: "Secret"}) {
		content.MergeStringData(body)
	}
	if c.member() {
		content.SetNested(body, p.id, "metadata", "labels", apply.PartOfLabel)
	}
	if c.member() && p.group != nil {
		content.SetNested(body, p.groupValue(), "metadata", "annotations", apply.GroupAnnotation)
	}
	if c.child.Mode == apply.Shared || c.child.Mode == apply.Retained {
		content.SetNested(body, sharedValue, "metadata", "annotations", apply.SharedAnnotation)
	}
	if c.child.Mode == apply.Shared && p.group != nil {
		value := p.groupValue()
		content.SetNested(body, value, "metadata", "annotations", groupkey.SharingAnnotation(value))
	}
	if c.reach {
		p.addOwner(body)
	}
	for _, rule := range c.rules {
		if rule.policy == apply.IgnoreField || rule.policy == apply.AbsentField {
			rule.path.Remove(body)
		}
	}
	return body, nil
}

// written is what the author wrote the child with.
func written(c *apply.Child) any {
	if c.Configuration != nil {
		return c.Configuration
	}
	return c.Object
}

func (p *pass) addOwner(body map[string]any) {
	metadata, ok := body["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		body["metadata"] = metadata
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

// parsedRule is a field rule with its path parsed.
type parsedRule struct {
	path   apply.Path
	policy apply.FieldPolicy
}

func (c *planned) parseRules() error {
	if c.rules != nil {
		return nil
	}
	for _, rule := range c.child.Fields {
		path, err := apply.ParsePath(rule.Path)
		if err != nil {
			return fmt.Errorf("field rule: %w", err)
		}
		if rule.Policy == apply.AbsentField && !removable(path) {
			return planError(fmt.Sprintf("child: field %s cannot be planned absent: want a label or an annotation that is not the "+
				"engine's, or a field outside of metadata and status", path))
		}
		c.rules = append(c.rules, parsedRule{path: path, policy: rule.Policy})
	}
	return nil
}

// dropEmptyMetadata leaves out empty labels and annotations: the server has no
// such thing, and takes each apply of one for a change.
func dropEmptyMetadata(intent map[string]any) {
	metadata, ok := intent["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"labels", "annotations"} {
		if m, ok := metadata[name].(map[string]any); ok && len(m) == 0 {
			delete(metadata, name)
		}
	}
	if len(metadata) == 0 {
		delete(intent, "metadata")
	}
}
