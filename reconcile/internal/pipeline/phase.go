package pipeline

import "github.com/reconcilekit/reconcilekit/reconcile"

// The phases of a pass besides [reconcile.PhaseFetch] and [reconcile.PhaseCompose].
const (
	phaseMigrate  reconcile.Phase = "Migrate"
	phasePlan     reconcile.Phase = "PlanResources"
	phaseFinalize reconcile.Phase = "Finalize"
	phaseHealth   reconcile.Phase = "GetComponentHealth"
	phaseApply    reconcile.Phase = "Apply"
	// phaseObserveApply is there where the reconciler is a [reconcile.ApplyObserver].
	phaseObserveApply reconcile.Phase = "ObserveApply"
	phaseDecorate     reconcile.Phase = "DecorateStatus"
	phaseStatus       reconcile.Phase = "WriteStatus"
)
