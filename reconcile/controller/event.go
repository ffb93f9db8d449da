package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// recorder announces through the events.k8s.io API. The action, which that API requires, is what a pass does.
type recorder struct{ events.EventRecorder }

const eventAction = "Reconcile"

// Event implements reconcile.EventRecorder.
func (r recorder) Event(object runtime.Object, eventType, reason, message string) {
	r.Eventf(object, nil, eventType, reason, eventAction, "%s", message)
}
