package inspect

// Internals that the tests check.
var (
	ClassifyLog = classifyLog
	PodsFailure = podsFailure
)

// LogUnknown is the class of a log without a known cause.
const LogUnknown = logUnknown
