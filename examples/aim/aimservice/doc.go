// Package aimservice reconciles AIMService: a model that KServe serves and the Gateway API publishes.
//
// [ServiceReconciler] implements the phases. FetchRemoteState reads the model, the templates, the cache and the children.
// ComposeState selects those that the service uses. PlanResources returns the children. [ServiceObservation] reports the health of
// each part. Pure functions derive names and paths, select templates, and merge settings; they are in files of their own.
package aimservice
