// Package remote reconciles resources inside of Grafana, such as folders, through the HTTP API of each selected instance.
package remote
