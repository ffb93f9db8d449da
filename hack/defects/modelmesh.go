package main

// modelmesh returns the defects of the models, the runtimes, the Service and the connections.
func modelmesh() product {
	const (
		request, system, fold = "modelmesh/predictor/request.go", "modelmesh/predictor/system.go", "modelmesh/predictor/fold.go"
		status, predictor     = "modelmesh/predictor/servicestatus.go", "modelmesh/predictor/reconciler.go"
		labels, fetch         = "modelmesh/runtimes/labels.go", "modelmesh/runtimes/fetch.go"
		workload, runtimes    = "modelmesh/runtimes/workload.go", "modelmesh/runtimes/reconciler.go"
		derived, service      = "modelmesh/runtimes/etcd.go", "modelmesh/service/reconciler.go"
		environment, rules    = "modelmesh/settings/environment.go", "modelmesh/webhook/rules.go"
		connection, calls     = "modelmesh/etcd/connection.go", "modelmesh/mmesh/connections.go"
	)
	return product{
		runs: []run{
			{
				packages: []string{
					"./modelmesh/api/...", "./modelmesh/etcd", "./modelmesh/mmesh", "./modelmesh/predictor", "./modelmesh/runtimes", "./modelmesh/service",
					"./modelmesh/settings", "./modelmesh/webhook",
				},
				flags: []string{"-skip", "^TestPredictor$"},
			},
			{tests: "^TestPredictor$", packages: []string{"./modelmesh/predictor"}, flags: []string{"-ginkgo.fail-fast"}},
			{tests: "Converge", packages: []string{"./modelmesh"}},
			{tests: "^TestScenarios$", packages: []string{"./modelmesh"}},
		},
		defects: []defect{
			{"one path of the schema counts as two", request, "spec.SchemaPath != nil && s.SchemaPath != nil", "spec.SchemaPath != nil || s.SchemaPath != nil"},
			{"a ModelMesh without pods has lost its models", system, "err == nil && !found.NoInstances && found.VModel", "err == nil && found.VModel"},
			{"events of deleted vmodels are dropped", system, "e.Source == \"\" || e.Source == m.source", "e.Source == m.source"},
			{
				"a model that waits for a pod is not polled", predictor,
				"case waits(v.ActiveModel) || waits(v.TargetModel):\n\t\treturn waitingPoll", "case waits(v.ActiveModel) || waits(v.TargetModel):\n\t\treturn 0",
			},
			{"the reason of a foreign vmodel is inverted", predictor, "refused.HealthReason() == \"OwnedByAnotherSource\"", "refused.HealthReason() != \"OwnedByAnotherSource\""},
			{
				"failed copies of the next model are not counted", fold,
				"total, failed := target.copies(v.TargetModel)\n\t\ts.TotalCopies, s.FailedCopies = s.TotalCopies+total, s.FailedCopies+failed",
				"total, _ := target.copies(v.TargetModel)\n\t\ts.TotalCopies += total",
			},
			{"the time of a failure is read in the wrong unit", fold, "time.UnixMilli(", "time.UnixMicro("},
			{"the address stays when the model is not available", status, "s.URL = \"\"\n\tdelete(s.Components, component)", ""},
			{"a disabled runtime is used", labels, " && !ptr.Deref(r.Spec.Disabled, false)", ""},
			{"a runtime of the cluster counts while it is being deleted", fetch, "item.DeletionTimestamp.IsZero() && ", ""},
			{"the replicas of a runtime are ignored", workload, "want.Replicas = int32(*r.Spec.Replicas)", "want.Replicas = int32(f.config.PodsPerRuntime)"},
			{
				"the grace period of an idle runtime has the wrong unit", workload,
				"time.Duration(f.config.ScaleToZero.GracePeriodSeconds) * time.Second", "time.Duration(f.config.ScaleToZero.GracePeriodSeconds) * time.Millisecond",
			},
			{"a rejected runtime loses its Deployment", runtimes, "plan.Keep(deployment)", "plan.Delete(deployment)"},
			{"all namespaces share a prefix in etcd", derived, "c.RootPrefix += \"/mm_ns/\" + namespace", "c.RootPrefix += \"/mm_ns\""},
			{"a Service of another name is not deleted", service, "!ours && other.Name != o.config.InferenceServiceName", "ours && other.Name != o.config.InferenceServiceName"},
			{"the ServiceMonitor is deleted while etcd's Secret is missing", service, "plan.Keep(monitor(rc.Object.Namespace))", ""},
			{"the Secret of the environment has the lowest priority", environment, "if e.EtcdSecret == defaultEtcdSecret {", "if e.EtcdSecret != defaultEtcdSecret {"},
			{"a target of 100 percent is rejected", rules, "percent > 100", "percent >= 100"},
			{"a missing key of etcd's Secret is skipped", connection, "content, found := secret.Data[*field.file]\n\t\tif !found {", "content := secret.Data[*field.file]\n\t\tif false {"},
			{"a connection is kept after its certificate changes", calls, "fingerprint += \" \" + target.Authority + \" \" + of", "_, fingerprint = of, fingerprint+\" \"+target.Authority"},
		},
	}
}
