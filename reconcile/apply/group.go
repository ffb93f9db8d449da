package apply

// DefaultDomain is the default of [Options.Domain].
const DefaultDomain = "reconcilekit.dev"

// PartOfLabel is on every child that its owner alone owns. Its value is the ID
// of the owner's set (KEP-3659, ApplySet):
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const PartOfLabel = "applyset.kubernetes.io/part-of"

// GroupAnnotation is on the children of a group, an owner that is no object of
// the cluster; its value is the group's kind, namespace and name, joined by
// slashes. It leads from a child to its group, which no owner reference does.
const GroupAnnotation = DefaultDomain + "/group"
