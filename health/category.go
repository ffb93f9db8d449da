package health

// Category is the kind of an error: who can resolve it, and whether a retry helps. Its text is stable.
type Category string

// The categories.
const (
	// InvalidSpec is an error that the owner's author has to correct.
	InvalidSpec Category = "InvalidSpec"
	// MissingUpstreamDependency is a dependency that another party provides and that does not exist.
	MissingUpstreamDependency Category = "MissingUpstreamDependency"
	// MissingDownstreamDependency is an object of the operator that does not exist yet.
	MissingDownstreamDependency Category = "MissingDownstreamDependency"
	// Auth is a missing or rejected permission or credential.
	Auth Category = "Auth"
	// ResourceExhaustion is a full disk, an exceeded quota or a lack of memory.
	ResourceExhaustion Category = "ResourceExhaustion"
	// Infrastructure is a transient failure of the network, the API server or a node.
	Infrastructure Category = "Infrastructure"
	// Conflict is a conflict with another writer of the object: an outdated resourceVersion, or a field or owner reference that the other
	// writer owns.
	Conflict Category = "Conflict"
	// ProgramError is a defect of the operator: a kind that was not declared, a phase that panicked, a plan with a nil child. Only another
	// version of the operator resolves it.
	ProgramError Category = "ProgramError"
	// Unknown is any other error.
	Unknown Category = "Unknown"
)

// String returns the name of the category, that of [Unknown] if it is empty.
func (c Category) String() string {
	if c == "" {
		return string(Unknown)
	}
	return string(c)
}

// State returns the state of a component with an error of the category. A string that is not a category counts as [Unknown], also in
// Blocks, Retries and Terminal.
func (c Category) State() State {
	switch c {
	case InvalidSpec, Auth, ResourceExhaustion, ProgramError:
		return Failed
	case MissingUpstreamDependency, Infrastructure, Conflict, Unknown:
		return Degraded
	case MissingDownstreamDependency:
		return Progressing
	}
	return Degraded
}

// Blocks reports whether an error of the category stops the apply, unless its component never blocks; see [Blocking].
func (c Category) Blocks() bool {
	switch c {
	case InvalidSpec, MissingUpstreamDependency, Auth, Infrastructure, ProgramError, Unknown:
		return true
	case MissingDownstreamDependency, ResourceExhaustion, Conflict:
		return false
	}
	return true
}

// Retries reports whether a retry with backoff helps.
func (c Category) Retries() bool {
	switch c {
	case Infrastructure, Conflict, Unknown:
		return true
	case InvalidSpec, MissingUpstreamDependency, MissingDownstreamDependency, Auth, ResourceExhaustion, ProgramError:
		return false
	}
	return true
}

// Terminal reports whether only a change elsewhere, possibly an unwatched one, resolves the error.
func (c Category) Terminal() bool {
	switch c {
	case InvalidSpec, Auth, ResourceExhaustion, ProgramError:
		return true
	case MissingUpstreamDependency, MissingDownstreamDependency, Infrastructure, Conflict, Unknown:
		return false
	}
	return false
}
