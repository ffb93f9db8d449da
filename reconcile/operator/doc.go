// Package operator runs the controllers of an operator in a process: it implements the main function.
//
// An [Operator] lists the controllers and the other parts of the program. [Operator.Main] is the main function;
// [Operator.Run] is the same for tests, with arguments and output as parameters and an error instead of an exit. The
// process creates the manager with the cache options of the declarations ([controller.CacheOptions]), serves metrics,
// /healthz, /readyz and webhooks, takes part in leader election, and stops on SIGINT and SIGTERM.
//
// # Commands and flags
//
// Without a command the process runs the operator. The commands are:
//
//   - describe, or the flag -describe: print the page of the operator, or with -output=rights its RBAC manifests. It needs no cluster.
//   - preview: print the changes that the operator would make in the cluster, for every owner, without making them
//     (-output=table, diff or json; -server-dry-run; -filename for owners that are not in the cluster yet). The exit status is 2
//     if there are changes.
//   - explain, as in "explain Website shop/corner": print the explanation of an owner from the running operator, which needs the
//     flag -serve-explanations (-server, -token-file, -insecure-skip-tls-verify).
//   - version: print the version.
//
// Flags are accepted with one or two dashes:
//
//   - -kubeconfig: the cluster; default $KUBECONFIG, then the cluster of the Pod, then ~/.kube/config
//   - -metrics-bind-address (default 0) and -health-probe-bind-address (default :8081); 0 disables the server
//   - -metrics-secure: serve metrics over TLS, only to accounts with the permission to get /metrics; default false. The
//     certificate is created at the start. The operator needs the permissions to create tokenreviews and subjectaccessreviews,
//     which package install grants
//   - -serve-explanations: serve explanations on the metrics server; default false
//   - -leader-elect, -leader-election-namespace and -leader-election-id; and the durations -leader-election-lease-duration,
//     -leader-election-renew-deadline and -leader-election-retry-period, default 15s, 10s and 2s
//   - -shard-count and -shard-name: divide the owners between processes, with a lease for each shard, see [controller.Shard];
//     default one process for all owners
//   - -namespaces: the namespaces of the operator; default all
//   - -webhook-port (default 9443; 0 disables the server), and for its certificate either -webhook-cert-dir, a folder that another
//     process writes, or -webhook-service, see below
//   - -zap-log-level and the other flags of controller-runtime's zap package
//   - those of the product ([Operator.Flags])
//
// An unknown argument is an error. Errors contain the flag, its value and the accepted values.
//
// # Logs
//
// The last line of a process that fails contains the cause. With -metrics-secure the log level can be read and set at
// [LogLevelPath].
//
// # Webhook certificates
//
// With -webhook-service=namespace/name, which package install sets, the process creates the certificate of the service and
// stores it in the Secret with the same namespace and name, which all replicas share. The certificate is valid for 90 days.
// After 60 days the process adds the next one to the trusted certificates, and then serves it without a restart. The
// process writes the trusted certificates into the configurations of the page's webhooks, whose names are those of the
// webhooks, and into the CRDs of the page's conversions. It restores them when another client removes them. To replace the
// certificate immediately and revoke the trust in the former ones, delete the data of the Secret.
//
// # Readiness and leader election
//
// /readyz reports the readiness of the process: the caches of the controllers are synced, the webhook server serves with a
// trusted certificate, and the API server responds. A standby is ready, too. When a leader is stopped, it releases its
// lease after its reconciliations have ended, and a standby takes over within about three seconds. When a leader is killed,
// a standby takes over after its lease has expired, 15 seconds by default.
package operator
