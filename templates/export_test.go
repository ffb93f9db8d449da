package templates

// MaxSummary is the maximum length of a summary in bytes.
const MaxSummary = maxSummary
