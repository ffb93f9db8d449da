package decide

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
)

// compile renders what is sent for a child, without the object's identity.
func compile(p *pass.Pass, c *pass.Child) (map[string]any, error) {
	body, err := p.Env.Encoder.Intent(intent.Written(c.Planned))
	if err != nil {
		return nil, err
	}
	if err := parseRules(c); err != nil {
		return nil, err
	}
	content.StripIdentity(body)
	intent.DropEmptyMetadata(body)
	if c.Kind.GVK.GroupKind() == (schema.GroupKind{Kind: "Secret"}) {
		content.MergeStringData(body)
	}
	if c.Member() {
		content.SetNested(body, p.SetID, "metadata", "labels", apply.PartOfLabel)
	}
	if c.Member() && p.Group != nil {
		content.SetNested(body, p.GroupValue(), "metadata", "annotations", apply.GroupAnnotation)
	}
	if c.Planned.Mode == apply.Shared || c.Planned.Mode == apply.Retained {
		content.SetNested(body, sharedValue, "metadata", "annotations", apply.SharedAnnotation)
	}
	if c.Planned.Mode == apply.Shared && p.Group != nil {
		value := p.GroupValue()
		content.SetNested(body, value, "metadata", "annotations", groupkey.SharingAnnotation(value))
	}
	if c.Reach {
		addOwner(p, body)
	}
	for _, rule := range c.Rules {
		if rule.Policy == words.IgnoreField || rule.Policy == words.AbsentField {
			rule.Path.Remove(body)
		}
	}
	return body, nil
}

func addOwner(p *pass.Pass, body map[string]any) {
	metadata, ok := body["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		body["metadata"] = metadata
	}
	refs, _ := metadata["ownerReferences"].([]any)
	kept := make([]any, 0, len(refs)+1)
	for _, ref := range refs {
		if m, ok := ref.(map[string]any); !ok || m["uid"] != string(p.Owner.GetUID()) {
			kept = append(kept, ref)
		}
	}
	metadata["ownerReferences"] = append(kept, map[string]any{
		"apiVersion":         p.OwnerKind.GVK.GroupVersion().String(),
		"kind":               p.OwnerKind.GVK.Kind,
		"name":               p.Owner.GetName(),
		"uid":                string(p.Owner.GetUID()),
		"controller":         true,
		"blockOwnerDeletion": true,
	})
}

func parseRules(c *pass.Child) error {
	if c.Rules != nil {
		return nil
	}
	for _, rule := range c.Planned.Fields {
		path, err := apply.ParsePath(rule.Path)
		if err != nil {
			return fmt.Errorf("field rule: %w", err)
		}
		if rule.Policy == words.AbsentField && !intent.Removable(path) {
			return planerror.Error(fmt.Sprintf("child: field %s cannot be planned absent: want a label or an annotation that is not the "+
				"engine's, or a field outside of metadata and status", path))
		}
		c.Rules = append(c.Rules, intent.Rule{Path: path, Policy: rule.Policy})
	}
	return nil
}

// sharedValue is the same for all, so that all can own it.
const sharedValue = "true"
