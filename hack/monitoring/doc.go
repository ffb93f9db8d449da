// Package monitoring tests the alerts and the dashboard that package install generates, with Prometheus' own engine: every expression is parsed,
// every metric that it names exists, and each alert fires with series that show its cause and not with others. It is a module of its
// own, so that Prometheus never becomes a requirement of the library.
package monitoring
