package apply

import "github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"

// PartOfLabel is on every child that its owner alone owns; its value is the id
// of the set of the owner (KEP-3659, ApplySet).
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const PartOfLabel = applyset.PartOfLabel

// SharedAnnotation is on an object that several owners share, see [Shared] and
// [Retained]. Each owner that has a part of the object owns the annotation
// under its own field manager, so that it is there as long as there is a part,
// and the API server counts them. Owners of [Retained] objects own it under the
// field manager of the controller, which never gives it back. An annotation
// that was copied with a manifest is nobody's part.
const SharedAnnotation = DefaultDomain + "/shared"
