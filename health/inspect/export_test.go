package inspect

// What the tests look at besides the exported names.
var (
	ClassifyLog = classifyLog
	PodsFailure = podsFailure
)

// LogUnknown is the class of a log that says nothing.
const LogUnknown = logUnknown
