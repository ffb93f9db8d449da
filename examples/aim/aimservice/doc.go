// Package aimservice is the controller of AIMService: a model, served through
// KServe and published through the Gateway API.
//
// [ServiceReconciler] has the phases. FetchRemoteState reads the model, the
// templates, the cache and the children; ComposeState decides which of them the
// service uses; PlanResources lists the children; [ServiceObservation] says how
// each part is. Names, paths, selection and merging are pure functions of their
// own files.
package aimservice
