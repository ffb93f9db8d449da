// Package intent resolves a planned child: its [Kind] and the rank of that kind, a hash that identifies equal plans ([Hasher]), the
// [Rule]s for single fields, and the [Body] that is sent. [PlanError] is a mistake in the plan itself.
package intent
