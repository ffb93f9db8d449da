// Package operator is the process of an operator: what a main function does besides its controllers.
//
// An [Operator] lists the controllers and what else belongs to the program. [Operator.Main] is the whole main function;
// [Operator.Run] is the same for tests, with arguments, output and an error instead of an exit. The process makes the manager with
// the cache that the declarations ask for ([controller.CacheOptions]), so that no declared filter is forgotten, serves metrics,
// /healthz, /readyz and webhooks, takes part in a leader election, and stops on SIGINT and SIGTERM.
//
// # Commands and flags
//
// Without a command the operator runs. "describe" prints its page, or with -output=rights the manifests of its rights; it needs no
// cluster. -describe is the same as "describe". "preview" prints what the operator would do in the cluster, for every owner, and does nothing of it
// (-output=table, diff or json; -server-dry-run; -filename for owners that are not in the cluster yet); its exit status is 2 when that is anything. "explain Website shop/corner" asks
// the running operator why an owner is as it is (-server, -token-file, -insecure-skip-tls-verify); that serves it with -serve-explanations. "version" prints the version. The flags hold for all commands, with one or two dashes:
//
//   - -kubeconfig: the cluster; default $KUBECONFIG, then the cluster that the process runs in, then ~/.kube/config
//   - -metrics-bind-address (default 0) and -health-probe-bind-address (default :8081); 0 serves none
//   - -metrics-secure: serve metrics over TLS, to those alone whose bearer token may get /metrics; default not. The certificate is made at
//     the start. The operator needs the rights to create tokenreviews and subjectaccessreviews, which package install grants
//   - -serve-explanations: serve explanations beside the metrics; default not
//   - -leader-elect, -leader-election-namespace and -leader-election-id, and the times -leader-election-lease-duration, -renew-deadline and
//     -retry-period, which begin alike; default 15s, 10s and 2s
//   - -shard-count and -shard-name: share the owners between processes, each with a lease for its shard, see [controller.Shard]; default not
//   - -namespaces: the namespaces to work in; default all
//   - -webhook-port (default 9443; 0 serves none), and for its certificate one of -webhook-cert-dir, a folder that somebody else keeps, and
//     -webhook-service, see below
//   - -zap-log-level and the other flags of controller-runtime's zap package
//   - those of the product ([Operator.Flags])
//
// An argument that nobody knows is an error; errors name the flag, its value and what would be right.
//
// # Log
//
// The last line of a process that fails has the cause. With -metrics-secure the level of the log can be read and set at [LogLevelPath].
//
// # The certificate of the webhooks
//
// With -webhook-service=namespace/name, which package install sets, the process makes the certificate of the service itself and keeps it in
// the Secret of the same namespace and name, which all replicas share. It lives for 90 days; after 60 the next one is first trusted and then
// served, without a restart. What is trusted is written into the configurations of the page's webhooks, whose names are those of the
// webhooks, and into the CRDs of the page's conversions, and written again when somebody takes it away. Deleting the data of the Secret
// makes a new certificate at once, and what was trusted before is trusted no more.
//
// # Readiness, leader election
//
// /readyz is that of the process: the caches of the controllers are synced, the webhook server serves and is trusted, the API server
// answers. A standby is ready too. A leader that is stopped gives its lease back when its passes have ended, and a standby takes over
// within about three seconds; one that is killed is followed when its lease has run out, after 15 seconds.
package operator
