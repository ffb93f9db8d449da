package templates

// MaxSummary is the bound of a summary, in bytes.
const MaxSummary = maxSummary
