package health

import "github.com/reconcilekit/reconcilekit/health/verdict"

// The words of package verdict under the names of this package. That package exists so that others can speak of health without
// importing the API types that the inspectors need; whoever imports health uses the names below.

// Component is the health of one part of an owner: a Name, which gives the condition type `<Name>Ready`; a State, or Errors from which
// it follows; Reason and Message for the condition; the Dependency that says who provides the part; Child for the health of a
// child that the owner applies, which never blocks applying; Immediate for trouble that no grace period hides.
//
// GetState, GetReason and GetMessage fill from the errors what is unset, Categorized returns the errors with their categories, As gives
// it another name. A component with neither a name nor trouble means "does not apply". See [verdict.Component] for
// the fields.
type Component = verdict.Component

// Dependency reports who provides a component: the owner itself ([Own], the zero value), somebody else ([Upstream]), or the owner by making
// it ([Downstream]). It decides whether a component that waits is Pending or Progressing, and what blocks: see [Blocking].
type Dependency = verdict.Dependency

// Who provides a component.
const (
	// Own is part of the owner itself: its configuration, a computation.
	Own = verdict.Own
	// Upstream is provided by somebody else and needed by the owner.
	Upstream = verdict.Upstream
	// Downstream is made by the owner.
	Downstream = verdict.Downstream
)

// Blocking returns the errors that must stop applying, in order: those of the categories InvalidSpec, MissingUpstreamDependency,
// Auth, Infrastructure and Unknown, except
//
//   - all of a component that is the health of a child ([Component].Child), and
//   - of a Downstream component, the verdict of an inspector: an [Error] without a cause.
//
// An error with a cause, or a raw one, comes from a call that failed: what the owner's children look like is then not
// known, and that blocks.
func Blocking(components []Component) []*Error { return verdict.Blocking(components) }

// State is how a component, or a whole owner, is. The empty state means that nothing was said. Its method Trouble tells the states that
// are an error (Degraded, NotAvailable, Failed) from those on the way to Ready.
type State = verdict.State

// The states, from best to worst.
const (
	// Ready does its work.
	Ready = verdict.Ready
	// Progressing is on its way.
	Progressing = verdict.Progressing
	// Starting has started and does not serve yet.
	Starting = verdict.Starting
	// Pending waits for something else.
	Pending = verdict.Pending
	// Degraded works in part, or did until lately.
	Degraded = verdict.Degraded
	// NotAvailable does not work now.
	NotAvailable = verdict.NotAvailable
	// Failed does not work and will not without a change.
	Failed = verdict.Failed
)

// Worse reports whether a is strictly worse than b. A word that is no state is as bad as Failed.
func Worse(a, b State) bool { return verdict.Worse(a, b) }

// Worst returns the worst of the states, the first of equals; [Ready] for none.
func Worst(states ...State) State { return verdict.Worst(states...) }

// Category is the kind of an error: who can solve it and whether trying again helps. Its text is stable. The methods State, Blocks,
// Retries and Terminal give what the table in the package documentation says.
type Category = verdict.Category

// The categories.
const (
	// InvalidSpec is for the owner's author: what is asked for cannot be.
	InvalidSpec = verdict.InvalidSpec
	// MissingUpstreamDependency is something that somebody else provides and that is not there.
	MissingUpstreamDependency = verdict.MissingUpstreamDependency
	// MissingDownstreamDependency is something of ours that is not there yet.
	MissingDownstreamDependency = verdict.MissingDownstreamDependency
	// Auth is a refused or missing permission or credential.
	Auth = verdict.Auth
	// ResourceExhaustion is a full disk, an exceeded quota, memory that ran out.
	ResourceExhaustion = verdict.ResourceExhaustion
	// Infrastructure is trouble with the network, the API server or a node; it passes or is repaired by others.
	Infrastructure = verdict.Infrastructure
	// Conflict is somebody else writing the same object: an outdated resourceVersion, a field or an owner taken.
	Conflict = verdict.Conflict
	// ProgramError is a mistake of the operator's own program: a kind that was not declared, a phase that panicked, a plan with a
	// nil child. Only another version of the operator solves it.
	ProgramError = verdict.ProgramError
	// Unknown is everything else.
	Unknown = verdict.Unknown
)

// Error is an error with a Category and the words for a condition, Reason and Message; Cause is the error behind it, or nil, and is
// what it unwraps to. Make one with [NewError] or [Categorize]; find one with errors.As and a *health.Error.
type Error = verdict.Error

// NewError returns an error of the category. The reason is a CamelCase word, the message says to a person what is wrong and what would
// be right, without anything that differs from pass to pass: both are stored in a condition. The cause may be nil.
func NewError(category Category, reason, message string, cause error) *Error {
	return verdict.NewError(category, reason, message, cause)
}

// Classified is an error that knows its own category (HealthCategory) and reason (HealthReason) without importing this module: a typed
// error of a product. [Categorize] takes its word; the message is its Error text. A word that is no [Category] counts as [Unknown].
type Classified = verdict.Classified

// RetryError joins the errors of a pass that trying again may solve: at least one, in the order in which they were observed. errors.Is
// and errors.As look into all of them. [Assessment].Retry is one.
type RetryError = verdict.RetryError

// Reasons that [Categorize] gives.
const (
	// ReasonUnknown stands for an error that nothing is known about.
	ReasonUnknown = verdict.ReasonUnknown
	// ReasonTimeout stands for a deadline that passed, here or at the API server.
	ReasonTimeout = verdict.ReasonTimeout
	// ReasonKindNotServed stands for a kind that the API server does not know: its CustomResourceDefinition is missing.
	ReasonKindNotServed = verdict.ReasonKindNotServed
)

// Categorize finds the category of an error, and a reason and message for it; nil for nil. An error that has a category, anywhere in
// its chain, keeps it, whatever its cause is. Then, first match wins: an answer of the API server, a context that ended, a kind
// that is not served or not in the scheme, the network; all else is [Unknown]. The message is the text of the error, bounded and
// without credentials; the reasons are the constants of package verdict.
//
// A missing kind counts as Infrastructure, not as a missing dependency: no watch can be set on it, so it has to be tried again.
func Categorize(err error) *Error { return verdict.Categorize(err) }
