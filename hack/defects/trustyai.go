package main

// trustyai returns the defects of the service, the jobs, the guardrails of both kinds, the hub and the job manager.
func trustyai() product {
	const (
		models, service, state = "trustyai/tas/models.go", "trustyai/tas/reconciler.go", "trustyai/tas/status.go"
		env, job               = "trustyai/lmes/env.go", "trustyai/lmes/reconciler.go"
		settings, jobStatus    = "trustyai/lmes/settings.go", "trustyai/lmes/status.go"
		server, nemo           = "trustyai/nemo/deployment.go", "trustyai/nemo/reconciler.go"
		discovery, guardrails  = "trustyai/orchestrator/autoconfig.go", "trustyai/orchestrator/reconciler.go"
		published, failures    = "trustyai/orchestrator/status.go", "trustyai/evalhub/failure.go"
		tenants, hub           = "trustyai/evalhub/tenant.go", "trustyai/evalhub/status.go"
		manager                = "trustyai/jobmgr/jobmgr.go"
	)
	return product{
		runs: []run{
			{packages: []string{
				"./trustyai/api/...", "./trustyai/cabundle", "./trustyai/evalhub", "./trustyai/guardrails", "./trustyai/images", "./trustyai/jobmgr",
				"./trustyai/lmes", "./trustyai/nemo", "./trustyai/orchestrator", "./trustyai/proxy", "./trustyai/tas",
			}},
			{tests: "Converge", packages: []string{"./trustyai"}},
			{tests: "^(TestScenarios|TestManagedScenarios)$", packages: []string{"./trustyai"}},
		},
		defects: []defect{
			{"a model that already sends its traffic here counts as used by another service", models, "logger != nil && logger.URL != url", "logger != nil"},
			{"a migration to the database has no volume", service, "Storage.Format == v1.FormatPVC || spec.Migrates()", "Storage.Format == v1.FormatPVC"},
			{"empty credentials are accepted", service, "len(secret.Value.Data[key]) == 0", "secret.Value.Data[key] == nil"},
			{"the annotation that requests a migration remains", service, "asked && obs.facts.Provisioned", "!asked && obs.facts.Provisioned"},
			{"exit code 1 does not count as a crash", state, "ended.ExitCode != 0", "ended.ExitCode > 1"},
			{"the certificate of a bucket is not verified by default", env, "ptr.Deref(s3.VerifySSL, true)", "ptr.Deref(s3.VerifySSL, false)"},
			{"the default tag of an image is not the job's name", env, "cmp.Or(oci.Tag, p.job.Name)", "cmp.Or(oci.Tag, \"latest\")"},
			{"a failed read of the claim is dropped", job, "f.platform.Failure(), f.claim.Failure()}", "f.platform.Failure()}"},
			{"a zero interval is accepted", settings, "err == nil && interval > 0", "err == nil"},
			{"a job completes before its driver is notified", jobStatus, "obs.status.CompleteTime = nil // until the driver answers", ""},
			{"only the first configuration can be the default", server, "if config.Default {", "if config.Default && first == \"\" {"},
			{"the pods are not restarted when a configuration changes", nemo, "sum.Write([]byte(key + data[key]))", "sum.Write([]byte(key))"},
			{"the port of the URL overrides that of the Service", discovery, "cmp.Or(f.servicePort(m.Name), at.Port(), ", "cmp.Or(at.Port(), f.servicePort(m.Name), "},
			{"a missing Secret is ignored", guardrails, "if f.secrets[name].Value == nil {", "if f.secrets[name].Failure() != nil {"},
			{
				"a route counts as ready before it is admitted", published,
				"!obs.fetched.routes[route.Name].Value.Admitted()", "obs.fetched.routes[route.Name].Value == nil",
			},
			{"the failure of an evaluation that is being deleted is reported", failures, " || !job.DeletionTimestamp.IsZero()", ""},
			{"a single-tenant hub serves other tenants", tenants, "hub.Spec.Tenancy == v1.SingleTenancy || ", ""},
			{"the status of an earlier generation of the Deployment counts", hub, "d.Status.ObservedGeneration < d.Generation", "d.Status.ObservedGeneration > d.Generation"},
			{"an evicted workload counts as admitted", manager, " && !obs.workload.Is(kueue.Evicted)", ""},
			{"a cancelled job counts as succeeded", manager, "job.Status.Reason == v1alpha1.JobSucceeded", "job.Status.Reason != v1alpha1.JobFailed"},
		},
	}
}
