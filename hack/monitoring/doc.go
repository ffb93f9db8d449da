// Package monitoring tests the Prometheus rules and the Grafana dashboard in config/monitoring: every expression is parsed, and every metric
// that it names is one of docs/metrics.md or of controller-runtime. It is a module of its own, so that the PromQL parser never becomes a
// requirement of the library.
package monitoring
