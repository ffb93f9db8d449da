// Package requests says what an operator asks of the API server.
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
//
// [Steady] and [Writes] bring a system to rest and count what a pass costs that has nothing to do, and what a change costs.
package requests
