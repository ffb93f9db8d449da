// Package children plans the children of an owner from one list. Each entry declares a child's template, the condition for its existence,
// its relation to the owner, and what happens to it when the condition is false.
//
//	set := &children.Set[Facts]{Manifests: manifests, Children: []children.Child[Facts]{
//		{Template: "deployment.yaml", Options: []apply.ChildOption{apply.Recreate()}},
//		{Template: "route.yaml", When: Facts.Published},
//		{Template: "volume.yaml", When: Facts.OwnDatabase, Off: children.Keep},
//	}}
//	plan, err := set.Plan(facts)
//
// Plan is a pure function; return its result from PlanResources. A child whose condition is false is not planned by default, and the
// engine prunes it if it applied it before. Cluster-scoped children have no owner reference; the engine deletes them with the owner.
//
// The set caches recent plans by their facts.
//
// If one child fails there is no plan at all, because an incomplete plan would prune the missing children.
package children
