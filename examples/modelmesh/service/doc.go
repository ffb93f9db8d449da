// Package service reconciles the Service of ModelMesh in a namespace, and its ServiceMonitor.
package service
