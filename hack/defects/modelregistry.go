package main

// modelregistry returns the defects of the registry and of the catalog.
func modelregistry() product {
	const (
		reconciler, children = "modelregistry/catalog/controller.go", "modelregistry/catalog/children.go"
		registry, parts      = "modelregistry/registry/controller.go", "modelregistry/registry/children.go"
		status               = "modelregistry/registry/status.go"
		webhook              = "modelregistry/webhook/webhook.go"
	)
	return product{
		runs: []run{
			{packages: []string{"./modelregistry/api/...", "./modelregistry/catalog", "./modelregistry/registry", "./modelregistry/webhook"}},
			{tests: "^(TestCatalogConverges|TestRegistryConverges)$", packages: []string{"./modelregistry"}},
			{tests: "^TestOperator$", packages: []string{"./modelregistry"}, flags: []string{"-ginkgo.fail-fast"}},
		},
		defects: []defect{
			{"the existence of the server is not checked", children, "on(f) && f.Server != nil", "on(f)"},
			{"the condition of the administrators' permissions is inverted", children, "len(f.Groups) > 0", "len(f.Groups) == 0"},
			{
				"the retired ConfigMap is not deleted", reconciler,
				"plan.Delete(&corev1.ConfigMap{ObjectMeta: retired}, apply.MatchLabels{createdBy: operator})", "",
			},
			{"children remain when the catalog is switched off", children, "off = children.Delete", "off = children.Keep"},
			{"an existing password is overwritten", children, "secrets.Rules(settings.credentials())", "secrets.Rules(secrets.Keys{})"},
			{"the read of the administrators is skipped", reconciler, "client.ObjectKey{Name: \"auth\"}", "client.ObjectKey{Name: \"none\"}"},
			{"the platform's object owns no children", children, "o.SetOwnerReferences(f.Platform)", "o.SetOwnerReferences(nil)"},
			{"the document of a user is overwritten", reconciler, "case text != \"\" && !r.settings.Disabled:", "case !r.settings.Disabled:"},
			{"keys next to the managed document are kept", children, "if key != sourcesKey &&", "if key == \"\" &&"},
			{"an invalid spec is planned", registry, "if obs.invalid != nil {\n\t\treturn reconcile.PlanResult{}, obs.invalid\n\t}", ""},
			{"the status is not polled", registry, "plan.RequeueAfter = obs.requeueAfter", ""},
			{"the deletion does not wait for its status", registry, "if !meta.IsStatusConditionTrue(rc.Object.Status.Conditions, conditionDegraded) {", "if false {"},
			{"the domain of the cluster is not read", registry, "fetched.ingress.Value.RouteDomain()", "\"\""},
			{"a Secret of another owner is used", registry, "fetched.secret.Value != nil && metav1.IsControlledBy(fetched.secret.Value, m)", "fetched.secret.Value != nil"},
			{"the HTTP route is always created", parts, "f.Spec.Rest.ServiceRoute == v1beta1.RouteEnabled", "f.Spec.Rest.ServiceRoute != v1beta1.RouteDisabled"},
			{"the claim is deleted with the generated database", parts, "When: generated, Off: children.Keep, Options: adopt", "When: generated, Options: adopt"},
			{"a proxy that is not ready counts as ready", status, "obs.server.GetState() == health.Ready && obs.proxy.GetState() != health.Ready", "false"},
			{"the condition of the proxy remains when it is switched off", status, "cm.Delete(conditionProxy)", ""},
			{"the password is not in the address of the database", parts, "if secret == nil {\n\t\t\treturn user", "if secret != nil {\n\t\t\treturn user"},
			{"a name can be used in two namespaces", webhook, "if other.Namespace != m.Namespace {", "if false {"},
		},
	}
}
