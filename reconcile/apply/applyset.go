package apply

import "github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"

// PartOfLabel is on every child that its owner alone owns; its value is the id
// of the set of the owner (KEP-3659, ApplySet).
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const PartOfLabel = applyset.PartOfLabel
