// Package requests counts the requests that an operator sends to the API server, and makes chosen ones fail.
//
// [Requests] sits below all clients, where nothing is hidden: it counts what
// really goes to the API server, so that a test can say "this pass sent no
// request", and makes chosen requests fail before or after the server has
// stored them:
//
//	var sent requests.Requests
//	config := sent.Observe(env.Config())
//	... // start a manager with config, wait until it is settled
//	sent.Reset()
//	... // churn
//	if writes := sent.Snapshot().Writes(); len(writes) > 0 {
//		t.Errorf("want no write, got:\n%s", writes)
//	}
package requests
