// Package intent resolves what a plan says about a child: its [Kind] and the
// rank of that kind, a hash by which equal plans are recognised ([Hasher]), the
// [Rule]s for single fields, and the [Body] that is sent. [PlanError] is a
// mistake of the plan itself.
package intent
