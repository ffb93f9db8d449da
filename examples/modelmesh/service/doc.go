// Package service is the controller of the Service by which ModelMesh is reached in a namespace, and of what scrapes its metrics.
package service
