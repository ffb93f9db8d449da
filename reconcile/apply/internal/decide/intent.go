package decide

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// compile renders what is sent for a child, without the object's identity.
func compile(p *pass.Pass, c *pass.Child) (map[string]any, error) {
	if c.Rules == nil && len(c.Planned.Fields) > 0 {
		rules, err := intent.Rules(c.Planned.Fields, c.Planned.Mode, c.Kind.Schema)
		if err != nil {
			return nil, intent.PlanError(err.Error())
		}
		c.Rules = rules
	}
	body, err := intent.Body(p.Env.Encoder, c.Planned, c.Kind.GVK.GroupKind(), c.Rules, marks(p, c))
	if err != nil {
		return nil, intent.PlanError(err.Error())
	}
	return body, nil
}

// marks are what the engine adds to the plan of the child.
func marks(p *pass.Pass, c *pass.Child) intent.Marks {
	m := intent.Marks{Shared: c.Planned.Mode == apply.Shared || c.Planned.Mode == apply.Retained}
	if c.Member {
		m.PartOf = p.SetID
	}
	switch {
	case p.Group == nil:
	case c.Member:
		m.Group = p.GroupValue()
	case c.Planned.Mode == apply.Shared:
		m.Sharing = p.GroupValue()
	}
	if c.Reach {
		m.Owner = map[string]any{
			"apiVersion":         p.OwnerKind.GVK.GroupVersion().String(),
			"kind":               p.OwnerKind.GVK.Kind,
			"name":               p.Owner.GetName(),
			"uid":                string(p.Owner.GetUID()),
			"controller":         true,
			"blockOwnerDeletion": true,
		}
	}
	return m
}
