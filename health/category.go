package health

// Category is the kind of an error: who can solve it and whether trying again helps. Its text is stable.
type Category string

// The categories.
const (
	// InvalidSpec is for the owner's author: what is asked for cannot be.
	InvalidSpec Category = "InvalidSpec"
	// MissingUpstreamDependency is something that others provide and that does not exist.
	MissingUpstreamDependency Category = "MissingUpstreamDependency"
	// MissingDownstreamDependency is something of ours that is not there yet.
	MissingDownstreamDependency Category = "MissingDownstreamDependency"
	// Auth is a refused or missing permission or credential.
	Auth Category = "Auth"
	// ResourceExhaustion is a full disk, an exceeded quota, memory that ran out.
	ResourceExhaustion Category = "ResourceExhaustion"
	// Infrastructure is a failure of the network, the API server or a node; it passes or is repaired by others.
	Infrastructure Category = "Infrastructure"
	// Conflict is another writer of the same object: an outdated resourceVersion, a field or an owner taken.
	Conflict Category = "Conflict"
	// ProgramError is a mistake of the operator's own program: a kind that was not declared, a phase that panicked, a plan with a
	// nil child. Only another version of the operator solves it.
	ProgramError Category = "ProgramError"
	// Unknown is everything else.
	Unknown Category = "Unknown"
)

// String returns the name of the category; [Unknown] for the empty one.
func (c Category) String() string {
	if c == "" {
		return string(Unknown)
	}
	return string(c)
}

// State is what an error of the category makes of its component. A word that is no category counts as [Unknown], here as in
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

// Blocks reports whether an error of the category stops applying, if its component may stop it at all; see [Blocking].
func (c Category) Blocks() bool {
	switch c {
	case InvalidSpec, MissingUpstreamDependency, Auth, Infrastructure, ProgramError, Unknown:
		return true
	case MissingDownstreamDependency, ResourceExhaustion, Conflict:
		return false
	}
	return true
}

// Retries reports whether trying again with backoff helps.
func (c Category) Retries() bool {
	switch c {
	case Infrastructure, Conflict, Unknown:
		return true
	case InvalidSpec, MissingUpstreamDependency, MissingDownstreamDependency, Auth, ResourceExhaustion, ProgramError:
		return false
	}
	return true
}

// Terminal reports whether only a change elsewhere, which no watch may see, solves it.
func (c Category) Terminal() bool {
	switch c {
	case InvalidSpec, Auth, ResourceExhaustion, ProgramError:
		return true
	case MissingUpstreamDependency, MissingDownstreamDependency, Infrastructure, Conflict, Unknown:
		return false
	}
	return false
}
