package enum

// What a pass does with one object, see apply.Verb.
const (
	// VerbNone sends nothing.
	VerbNone = "none"
	// VerbCreate creates the object.
	VerbCreate = "create"
	// VerbUpdate applies the plan to the object that exists.
	VerbUpdate = "update"
	// VerbDelete deletes the object, as the plan asks for.
	VerbDelete = "delete"
	// VerbPrune deletes a child that is no longer planned.
	VerbPrune = "prune"
	// VerbRelease gives the fields of a contribution back.
	VerbRelease = "release"
	// VerbRecord writes the inventory and the finalizer to the owner.
	VerbRecord = "record"
)

// Why it does that, see apply.Reason.
const (
	// ReasonUpToDate: the object is as planned.
	ReasonUpToDate = "UpToDate"
	// ReasonMissing: the object does not exist.
	ReasonMissing = "Missing"
	// ReasonPlanChanged: the plan is another one than the last applied.
	ReasonPlanChanged = "PlanChanged"
	// ReasonDrift: somebody has changed fields of ours since the last apply.
	ReasonDrift = "Drift"
	// ReasonDiffers: the object is not as planned, and this process does not
	// know what was applied to it before.
	ReasonDiffers = "Differs"
	// ReasonFormerManager: fields are owned under a former name of ours.
	ReasonFormerManager = "FormerManager"
	// ReasonOwnershipLost: somebody removed our entry from managedFields.
	ReasonOwnershipLost = "OwnershipLost"
	// ReasonExists: the object exists, and more was not asked for.
	ReasonExists = "Exists"
	// ReasonStaleCache: the cache does not show our last write yet.
	ReasonStaleCache = "StaleCache"
	// ReasonTerminating: the object is being deleted.
	ReasonTerminating = "Terminating"
	// ReasonOptedOut: the object has apply.Options.OptOutAnnotation.
	ReasonOptedOut = "OptedOut"
	// ReasonNotOwned: the object is not this owner's.
	ReasonNotOwned = "NotOwned"
	// ReasonContested: other managers own planned fields.
	ReasonContested = "Contested"
	// ReasonBackoff: the same request failed before, and nothing has changed
	// that could help.
	ReasonBackoff = "Backoff"
	// ReasonInvalid: the plan is not valid.
	ReasonInvalid = "Invalid"
	// ReasonReadFailed: the object could not be read.
	ReasonReadFailed = "ReadFailed"
	// ReasonPlanned: the plan asks for the deletion.
	ReasonPlanned = "Planned"
	// ReasonNotPlanned: the plan does not name the object any more.
	ReasonNotPlanned = "NotPlanned"
	// ReasonNoMatch: the object is not the one that the plan means.
	ReasonNoMatch = "NoMatch"
	// ReasonWaiting: the plan holds the object back until a condition is met.
	ReasonWaiting = "Waiting"
	// ReasonUnobserved: the child was changed, and its status is about what it
	// was before.
	ReasonUnobserved = "ChangeNotObserved"
	// ReasonInventory: the owner's metadata has to name other kinds,
	// namespaces or contributions, or another finalizer.
	ReasonInventory = "Inventory"
)

// What happened to one object, see apply.Outcome.
const (
	// OutcomeUnchanged: the object is as planned; nothing was sent.
	OutcomeUnchanged = "Unchanged"
	// OutcomeCreated: the object did not exist and was created.
	OutcomeCreated = "Created"
	// OutcomeUpdated: the object existed and was changed.
	OutcomeUpdated = "Updated"
	// OutcomeDeleted: the plan asked for its deletion, or for a recreation.
	OutcomeDeleted = "Deleted"
	// OutcomePruned: it was no longer planned and its deletion was accepted.
	OutcomePruned = "Pruned"
	// OutcomeReleased: a contribution to it was given back.
	OutcomeReleased = "Released"
	// OutcomeOptedOut: the object has the annotation apply.Options.OptOutAnnotation;
	// nothing was sent.
	OutcomeOptedOut = "OptedOut"
	// OutcomeContested: other managers own planned fields.
	OutcomeContested = "Contested"
	// OutcomeBlocked: not tried, because what it needs failed.
	OutcomeBlocked = "Blocked"
	// OutcomeWaiting: the plan holds the object back, see apply.WaitUntil; nothing was sent.
	OutcomeWaiting = "Waiting"
	// OutcomeFailed: the request failed.
	OutcomeFailed = "Failed"
)

// Why a prune did not happen, see apply.PruneBlockedError; the gravest first.
const (
	// PruneIncomplete: the plan may be incomplete, apply.Plan.PruneBlocked.
	PruneIncomplete = "PlanIncomplete"
	// PruneFailed: a list or a delete failed.
	PruneFailed = "Failed"
	// PruneTooMany: more than the allowed share would go, unexplained.
	PruneTooMany = "TooMany"
	// PruneHoldsData: the objects hold data or work, see
	// apply.Options.GuardedKinds, and nothing explains that they are no longer
	// planned.
	PruneHoldsData = "HoldsData"
	// PruneReplacing: a child that may take their place could not be created.
	PruneReplacing = "ReplacementFailed"
	// PruneUnknown: it is not known what is wanted, or what there is: the
	// kind is not served, or not declared, or the inventory is not readable.
	PruneUnknown = "Unknown"
)

// What plans do with a kind, see apply.KindUse.
const (
	// KindOwned: plans may have children of the kind.
	KindOwned = iota
	// KindWritten: plans write objects of the kind that are no members of the
	// set: shared ones, contributions, deletions.
	KindWritten
	// KindRetired: no plan names the kind any more, but those of an earlier
	// version of the operator did. What is left of it is found and pruned,
	// which takes the rights to list and delete it.
	KindRetired
)

// What the engine does about one field, see apply.FieldPolicy.
const (
	// OwnField keeps the field at the planned value. An edit by hand is
	// repaired; a field that another declarative manager owns with another
	// value is reported as apply.ContestedError and left alone. The default.
	OwnField = iota
	// SeedField sets the field when the object has none, follows the plan
	// while nobody else has set it, and yields to whoever changes it. It
	// comes back when the manager that took it gives it up, so that nobody
	// owns it.
	SeedField
	// ForceField takes the field from any other manager, unless that one
	// takes it back again and again.
	ForceField
	// IgnoreField never sends the field.
	IgnoreField
	// CreateOnlyField sends the field when the object has none, and neither
	// compares nor changes it from then on, whoever owns it and whatever the
	// plan says later.
	CreateOnlyField
	// AbsentField removes the field from the object, whoever has set it.
	AbsentField
)

// Names that are the same for every controller.
const (
	// DefaultDomain is the default of apply.Options.Domain.
	DefaultDomain = "reconcilekit.dev"
	// ChildIndex is the index by which reconcile.FetchChildren lists: the UID of an object's controller. controller.Listed beside
	// a kind makes it.
	ChildIndex = "reconcilekit.dev/controller-uid"
	// PartOfLabel is on every child that its owner alone owns; its value is the id of the set of the owner (KEP-3659, ApplySet).
	// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
	PartOfLabel = "applyset.kubernetes.io/part-of"
)
