// Package record writes down what a pass saw and decided, and runs the pass again from that, without a cluster.
//
// A controller that is set up with a [Recorder] (Options.Record of the package reconcile/controller) writes one JSON file for
// each pass, a [Recording]: the owner, every read with its options and its answer, the time, the plan, the health, the
// conditions, the answers of the API server to what was written, the events and the outcome. Without one nothing is recorded,
// and nothing is spent on it.
//
// The method Replay of a builder runs the phases again with the recorded answers: FetchRemoteState, ComposeState, PlanResources,
// GetComponentHealth, DecorateStatus, Finalize and Migrate. It returns another recording. For the same code [Recording.Encode]
// gives the same bytes; what differs is what the code decides differently. So a bug of a running operator becomes a test case
// of its repair. Tests use Replay of the package reconcile/reconciletest, which prints the difference.
//
// # When to use which
//
//	record the passes of a controller        New, in Options.Record of the builder; Changes for the passes that matter
//	replay a file in a test                  Replay of package reconcile/reconciletest
//	replay a file elsewhere                  Decode, and Replay of the builder
//
// # Secrets
//
// The content of Secrets that were read (data, stringData, and the annotation in which kubectl keeps a copy) is replaced by
// placeholders: "redacted-1" for the first value, the same one wherever the value is the same, nothing for an empty value.
// There is no digest of it that could be guessed. The file then has what the phases make of the placeholders, because the
// pass is replayed before it is written: what was derived from a secret, be it a hash or a connection string, cannot be in it.
// Its field "redacted" says in which places the real pass came to something else. The content of Secrets in the plan is replaced in
// the same way, and secret values are cut out of the messages of errors.
//
// A phase that looks at something else than its arguments (a clock, an environment variable, the network) does so once more
// then, and its recording does not replay. A reconciler with such a phase is not pure, see Purity of the package
// reconcile/reconciletest.
package record
