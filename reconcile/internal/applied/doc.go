// Package applied reads what became of a plan: the log line of each write, what
// the plan holds back, and the category of what the engine refused.
package applied
