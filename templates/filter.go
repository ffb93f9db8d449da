package templates

// Filter is a stage that rejects candidates. The zero value rejects none and is counted all the same, so a stage that does not apply
// can stay in its place.
type Filter[C any] struct {
	// Name names the stage in the result, such as "availability".
	Name string
	// Reason is why a candidate of this stage is rejected, CamelCase such as "NotReady". Unset it is the name.
	Reason string
	// ReasonFor returns the reason of one rejected candidate, where they differ. Unset, or where it returns "", Reason counts.
	ReasonFor func(candidate *C) string
	// Keep reports whether a candidate stays. Unset all stay.
	Keep func(candidate *C) bool
	// Best returns the rank of a candidate: of those that Keep left, only candidates of the lowest rank stay. It is for a choice that
	// comes before every preference, such as the nearest scope: a candidate in the namespace hides those of the cluster, but only
	// if it passed all filters before. Unset all stay.
	Best func(candidate *C) int
}

// Keep returns a filter that rejects, for this reason, what keep does not report.
func Keep[C any](name, reason string, keep func(candidate *C) bool) Filter[C] {
	return Filter[C]{Name: name, Reason: reason, Keep: keep}
}

// OnlyBest returns a filter that leaves only candidates of the lowest rank; see [Filter.Best].
func OnlyBest[C any](name, reason string, rank func(candidate *C) int) Filter[C] {
	return Filter[C]{Name: name, Reason: reason, Best: rank}
}
