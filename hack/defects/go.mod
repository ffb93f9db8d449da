module github.com/reconcilekit/reconcilekit/hack/defects

go 1.26.0
