// Package requests counts the requests that an operator sends to the API server, and injects faults.
//
// [Requests] wraps the transport of all clients, so it counts every request to the API server. A test can check that a reconciliation
// sends no request, and make requests fail before or after the server has stored them:
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
