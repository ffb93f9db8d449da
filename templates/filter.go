package templates

// Filter is a stage that rejects candidates. The zero value rejects none and still appears in the result's stages.
type Filter[C any] struct {
	// Name names the stage in the result, such as "availability".
	Name string
	// Reason is the reason for rejections by this stage, CamelCase such as "NotReady". Default: the name.
	Reason string
	// ReasonFor returns the reason for one rejected candidate. If it is unset or returns "", Reason is used.
	ReasonFor func(candidate *C) string
	// Keep reports whether to keep a candidate. Unset keeps all.
	Keep func(candidate *C) bool
	// Best returns the rank of a candidate: of the candidates that Keep kept, only those of the lowest rank remain. Use it for a choice
	// before every preference, such as the nearest scope: a candidate in the namespace hides those of the cluster, but only if it passed all
	// earlier filters. Unset keeps all.
	Best func(candidate *C) int
}

// Keep returns a filter that rejects candidates for which keep returns false, with this reason.
func Keep[C any](name, reason string, keep func(candidate *C) bool) Filter[C] {
	return Filter[C]{Name: name, Reason: reason, Keep: keep}
}

// OnlyBest returns a filter that keeps only candidates of the lowest rank; see [Filter.Best].
func OnlyBest[C any](name, reason string, rank func(candidate *C) int) Filter[C] {
	return Filter[C]{Name: name, Reason: reason, Best: rank}
}
