package engine

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// compile renders what is sent for a child, without the object's identity.
func (p *pass) compile(c *planned) (map[string]any, error) {
	body, err := p.engine.encoder.Intent(intent.Written(c.child))
	if err != nil {
		return nil, err
	}
	if err := c.parseRules(); err != nil {
		return nil, err
	}
	content.StripIdentity(body)
	intent.DropEmptyMetadata(body)
	if c.kind.GVK.GroupKind() == (schema.GroupKind{Kind: "Secret"}) {
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
		if rule.Policy == apply.IgnoreField || rule.Policy == apply.AbsentField {
			rule.Path.Remove(body)
		}
	}
	return body, nil
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
		"apiVersion":         p.ownerKind.GVK.GroupVersion().String(),
		"kind":               p.ownerKind.GVK.Kind,
		"name":               p.owner.GetName(),
		"uid":                string(p.owner.GetUID()),
		"controller":         true,
		"blockOwnerDeletion": true,
	})
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
		if rule.Policy == apply.AbsentField && !intent.Removable(path) {
			return planerror.Error(fmt.Sprintf("child: field %s cannot be planned absent: want a label or an annotation that is not the "+
				"engine's, or a field outside of metadata and status", path))
		}
		c.rules = append(c.rules, intent.Rule{Path: path, Policy: rule.Policy})
	}
	return nil
}
