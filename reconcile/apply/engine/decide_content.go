package engine

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// compileContent renders the content of the child's apply, without the object's identity.
func compileContent(p *pass, c *child) (map[string]any, error) {
	if c.rules == nil && len(c.planned.Fields) > 0 {
		rules, err := intent.Rules(c.planned.Fields, c.planned.Mode, c.kind.Schema)
		if err != nil {
			return nil, intent.PlanError(err.Error())
		}
		c.rules = rules
	}
	body, err := intent.Body(p.env.encoder, c.planned, c.kind.GVK.GroupKind(), c.rules, marksOf(p, c))
	if err != nil {
		return nil, intent.PlanError(err.Error())
	}
	return body, nil
}

// marksOf returns the labels, annotations and references that the engine adds to the child.
func marksOf(p *pass, c *child) intent.Marks {
	m := intent.Marks{Shared: c.planned.Mode == apply.Shared || c.planned.Mode == apply.Retained}
	if c.member {
		m.PartOf = p.setID
	}
	m.After = p.order.recorded(c)
	switch {
	case p.group == nil:
	case c.member:
		m.Group = p.groupValue()
	case c.planned.Mode == apply.Shared:
		m.Sharing = p.groupValue()
	}
	if c.reach {
		m.Owner = map[string]any{
			"apiVersion":         p.ownerKind.GVK.GroupVersion().String(),
			"kind":               p.ownerKind.GVK.Kind,
			"name":               p.owner.GetName(),
			"uid":                string(p.owner.GetUID()),
			"controller":         true,
			"blockOwnerDeletion": true,
		}
	}
	return m
}
