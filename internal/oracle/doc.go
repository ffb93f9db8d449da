// Package oracle searches for wrong "unchanged" results of the apply engine on a real API server.
//
// A sequence of events is one owner with a few children of random kinds. In each step the plan changes, or another client writes to a child, or the
// engine restarts; then passes run until steady state. Whenever the engine reports a child as unchanged, a forced dry run of its apply
// with the same field manager must change neither a value nor its ownership. The body of the apply is captured from another engine
// without memory, which reads a modified object and therefore always applies. The check thus does not depend on the engine's comparison.
//
// Three cases are exempt, because the API server causes them. An object that the server has stored but to which no client can apply
// counts as unchanged. Defaults that the server sets in place of an emptied list or object are allowed. A seed may belong to others
// entirely or partially.
//
// [Oracle.Switch] searches for children that differ from new ones: it applies one plan and then another one, and compares the child with
// one that is created from the second plan.
//
// All random values come from a seed, and a sequence is a function of the seed and its number. The sequence controls the cache, which lags only
// on request.
package oracle
