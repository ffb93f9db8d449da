package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// fieldsOfOthers returns the unplanned fields that other managers wrote to a child before the engine's first apply. Server-side apply
// leaves them until their manager is one of [apply.Options.FormerManagers]. The engine logs them, because an operator that migrates to it
// would otherwise keep fields of its old version unnoticed.
func fieldsOfOthers(c *child) []apply.ContestedField {
	var out []apply.ContestedField
	for _, e := range c.live.GetManagedFields() {
		if e.Operation != metav1.ManagedFieldsOperationUpdate || e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		set, err := fieldset.Parse(e.FieldsV1.GetRawBytes())
		if err != nil {
			continue
		}
		for _, path := range set.Outside(c.content) {
			out = append(out, apply.ContestedField{Path: path, Manager: e.Manager})
		}
	}
	return out
}

// logForeign logs these fields at the first apply to an existing child.
func logForeign(p *pass, c *child) {
	if c.planned.Mode == apply.Contribute {
		return // the rest of the object belongs to another controller
	}
	byManager := map[string][]string{}
	for _, f := range fieldsOfOthers(c) {
		byManager[f.Manager] = append(byManager[f.Manager], f.Path)
	}
	for manager, fields := range byManager {
		log.FromContext(p.ctx).Info("fields that are not planned stay, because another manager wrote them; "+
			"if it is an earlier version of this operator, name it in Options.FormerManagers",
			"child", c.id.String(), "manager", manager, "fields", fields)
	}
}
