package apply

import "github.com/reconcilekit/reconcilekit/reconcile/internal/enum"

// GroupAnnotation is on the children of a group, an owner that is no object of
// the cluster; its value is the group's kind, namespace and name, joined by
// slashes. It leads from a child to its group, which no owner reference does.
const GroupAnnotation = enum.DefaultDomain + "/group"
