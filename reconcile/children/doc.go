// Package children plans the children of an owner from one list that says everything about each of them: its template, when
// it exists, how it relates to the owner, and what becomes of it when it is switched off.
//
//	set := &children.Set[Facts]{Manifests: manifests, Children: []children.Child[Facts]{
//		{Template: "deployment.yaml", Options: []apply.ChildOption{apply.Recreate()}},
//		{Template: "route.yaml", When: Facts.Published},
//		{Template: "volume.yaml", When: Facts.OwnDatabase, Off: children.Keep},
//	}}
//	plan, err := set.Plan(facts)
//
// Plan is a pure function whose results PlanResources returns. A child that is switched off and not kept is simply not planned: the engine prunes what it has applied before, and
// nothing that it has not. The scope of a child follows from its kind: one that is cluster-scoped gets no owner reference and is
// deleted with the owner by the engine.
//
// A plan for facts that have not changed is not made again: the set remembers the plans that were asked for last.
//
// A set that fails in one child gives no plan at all: half of one would prune the other half.
package children
