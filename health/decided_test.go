package health_test

import "github.com/reconcilekit/reconcilekit/internal/vectors"

// decided has the cases of testdata/vectors.json in which this package differs on purpose: the reason, and the differing
// fields. A case without a result is about a feature that does not exist here.
var decided = map[string]vectors.Decision{
	// Applying.
	"engine: error category Infrastructure": {
		"an inspector's error about a Downstream component does not block applying",
		`{"steps": [{"shouldApply": true}]}`,
	},
	"engine: error category MissingUpstreamDependency": {
		"an inspector's error about a Downstream component does not block applying",
		`{"steps": [{"shouldApply": true}]}`,
	},
	"manual: conditions and status are the reconciler's, apply allowed": {"there is no manual mode: a product adds conditions", ""},
	"manual: infrastructure error still requeues":                       {"there is no manual mode: a product adds conditions", ""},

	// Components and their errors.
	"engine: plain error is unknown, requeued as infrastructure": {
		"quirk: an unknown error also fails its component; the summary names it",
		`{"steps": [{"conditions": [{}, {"reason": "UnknownError", "message": "Component X is not ready: boom"}, {}], "events": [
			"Warning InfrastructureError Cannot reach dependencies",
			"Warning UnknownError Component X is not ready: boom", "Warning UnknownError boom"]}]}`,
	},
	"derive state: plain": {
		"an unknown error also fails its component", `{"state": "Degraded"}`,
	},
	"derive state: explicit values win": {
		"errors override an explicit Ready", `{"state": "Failed"}`,
	},
	"engine: duplicate component names, last one wins": {
		"the worse of two reports about one component takes precedence",
		`{"steps": [{"conditions": [
				{"status": "False", "reason": "Bad", "message": "x"},
				{"status": "False", "reason": "Bad", "message": "Component A is not ready: x"}],
			"events": ["Warning Bad Component A is not ready: x", "Warning Bad x"], "status": "Failed"}]}`,
	},
	"quirk: a component that disappears keeps its False condition": {
		"quirk: stale conditions of this writer are removed",
		`{"steps": [{}, {"status": "Ready", "events": ["Normal AllComponentsReady All components are ready"], "conditions": [
			{"at": 0, "type": "ModelReady", "status": "True", "reason": "ModelReady", "message": "ok"},
			{"at": 60, "type": "Ready", "status": "True", "reason": "AllComponentsReady", "message": "All components are ready"}]}]}`,
	},

	// Grace.
	"grace: ready stays ready at 0s and 9s, degrades at 10s": {
		"the previous condition is kept with its reason and message, so no event is sent for it; " +
			"meanwhile DependenciesReachable has the cause",
		`{"steps": [{},
			{"conditions": [{"message": "Cannot reach dependencies: down"}, {"reason": "ModelReady", "message": "ok"}, {}],
				"events": ["Warning InfrastructureError Cannot reach dependencies: down"]},
			{"conditions": [{"message": "Cannot reach dependencies: down"}, {"reason": "ModelReady", "message": "ok"}, {}]},
			{}, {}]}`,
	},
	"grace: a second outage restarts the window": {
		"the previous condition is kept with its reason and message, so no event is sent for it; " +
			"meanwhile DependenciesReachable has the cause",
		`{"steps": [{},
			{"conditions": [{"message": "Cannot reach dependencies: down"}, {"reason": "ModelReady", "message": "ok"}, {}],
				"events": ["Warning InfrastructureError Cannot reach dependencies: down"]},
			{"events": ["Normal Reachable All dependencies are reachable"]},
			{"conditions": [{"message": "Cannot reach dependencies: down"}, {"reason": "ModelReady", "message": "ok"}, {}],
				"events": ["Warning InfrastructureError Cannot reach dependencies: down"]}]}`,
	},
	"grace: progressing turns degraded at once": {
		"quirk: the grace period also keeps a condition that is not True; meanwhile DependenciesReachable has the cause",
		`{"steps": [{},
			{"conditions": [{"message": "Cannot reach dependencies: down"}, {"reason": "Busy", "message": "w"},
				{"reason": "Progressing", "message": "Waiting for Model: w"}],
				"events": ["Warning InfrastructureError Cannot reach dependencies: down"], "status": "Pending"}]}`,
	},

	// States.
	"ladder: Ready < Running": {"Running is a product's name for Ready; an unknown state ranks worst", `{"result": 1}`},

	// Errors.
	"categorize: api reason=\"Conflict\" code=409": {"the category Conflict exists", `{"category": "Conflict"}`},
	"categorize: api reason=\"Gone\" code=410": {
		"quirk: the owner's author did not cause it",
		`{"category": "Infrastructure", "reason": "Expired"}`,
	},
	"categorize: api reason=\"Expired\" code=410": {
		"quirk: the owner's author did not cause it",
		`{"category": "Infrastructure", "reason": "Expired"}`,
	},
	"categorize: api reason=\"MethodNotAllowed\" code=405": {
		"the owner's author did not cause it",
		`{"category": "Unknown", "reason": "NotSupported"}`,
	},
	"categorize: api reason=\"RequestEntityTooLarge\" code=413": {
		"a limit of the API server, which the owner's author did not cause",
		`{"category": "ResourceExhaustion", "reason": "TooLarge"}`,
	},
	"categorize: EHOSTUNREACH": {
		"a known network error",
		`{"category": "Infrastructure", "reason": "NetworkError"}`,
	},
	"categorize: EPIPE": {
		"a known network error",
		`{"category": "Infrastructure", "reason": "NetworkError"}`,
	},
	"categorize: context deadline": {
		"a deadline is temporary", `{"category": "Infrastructure", "reason": "Timeout"}`,
	},
	"categorize: api reason=\"InternalError\" code=500": {"only a 503 means that the server is unavailable", `{"reason": "ServerError"}`},
	"categorize: api reason=\"\" code=500":              {"only a 503 means that the server is unavailable", `{"reason": "ServerError"}`},
	"categorize: no kind match (CRD missing)": {
		"quirk: a known error that is retried, because no watch reports when the kind appears",
		`{"category": "Infrastructure", "reason": "KindNotServed",
			"message": "The API server does not serve this kind: no matches for kind \"K\" in version \"g/v1\""}`,
	},
}

// kept has the cases marked as quirks whose recorded result is nevertheless correct under the rules that apply to every
// case.
var kept = map[string]string{
	"engine: Running counts as not ready": "an unknown state is never ready",
	"engine: empty component name writes the Ready condition itself": "a component without a name and a failure is ignored, which " +
		"has the same result here",
	"quirk: empty component name bumps Ready's time on every pass": "lastTransitionTime moves with the status alone, which the " +
		"rules make of the recorded result, too",
}
