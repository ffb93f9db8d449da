package main

// aim returns the defects of the services: their selections, their plans, and the fields of other owners.
func aim() product {
	const (
		model, selection = "aim/aimservice/model.go", "aim/aimservice/selection.go"
		cache, plan      = "aim/aimservice/cache.go", "aim/aimservice/controller.go"
		route, inference = "aim/aimservice/route.go", "aim/aimservice/inference.go"
		template, names  = "aim/aimservice/template.go", "aim/aimservice/names.go"
	)
	service := []string{"./aim/aimservice"}
	return product{
		runs: []run{
			{packages: service, flags: []string{"-skip", "^(TestConverges|TestAIMService)$"}},
			{tests: "^TestConverges$", packages: service},
			{tests: "^TestAIMService$", packages: service, flags: []string{"-ginkgo.fail-fast"}},
		},
		defects: []defect{
			{"one of two models with the image is selected", model, "if len(found) > 1 {", "if len(found) > 2 {"},
			{"the model in use is replaced by another one", model, "used := service.Status.ResolvedModel; used != nil", "used := service.Status.ResolvedModel; used != nil && used.Name == \"\""},
			{"the S3 endpoint of a source is not compared", model, " && endpointOf(a) == endpointOf(b)", ""},
			{"a created model does not name its service", names, "managedByLabel: Name, serviceNameLabel: serviceLabelValue(service)}", "managedByLabel: Name}"},
			{"a template that is not ready is selected", selection, "Keep: func(c *candidate) bool { return c.unavailable() == \"\" }", "Keep: func(*candidate) bool { return true }"},
			{"the option for unoptimized templates is inverted", selection, "return allowUnoptimized || ", "return !allowUnoptimized || "},
			{"the names of GPUs are compared without normalization", selection, "available[gpu.Normalize(name)] = true", "available[name] = true"},
			{"a cluster template ranks equal to a namespace template", selection, "AIMResolutionScopeNamespace {\n\t\t\t\t\treturn 0", "AIMResolutionScopeNamespace {\n\t\t\t\t\treturn 1"},
			{"a template derived for another service is a candidate", selection, "owner.Kind == \"AIMService\"", "owner.Kind == \"AIMModel\""},
			{"the profile of the base stays in a derived template", template, "spec.ProfileID = \"\"", "_ = spec.ProfileID"},
			{"the cache of another service is used", cache, " && (!dedicated || metav1.IsControlledBy(c, service))", ""},
			{"the scope of a cache's template is ignored", cache, "(scope == cacheScope(t) || scope == aimv1alpha1.AIMServiceTemplateScopeUnknown)", "scope == c.Spec.TemplateScope"},
			{"a ready cache is deleted with its service", cache, " || c.Status.Status == aimv1alpha1.AIMStatusReady", ""},
			{"a cache is deleted although reading its users failed", cache, "f.caches.HasError() || f.neighbours.HasError()", "f.caches.HasError()"},
			{"a running workload is deleted with its template", plan, "plan.Keep(obs.isvc.Value)", ""},
			{"the runtime is created before its cache is ready", plan, "!obs.needsCache() || obs.cache.IsReady()", "!obs.needsCache() || obs.cache != nil"},
			{"a path of another service is used", plan, "obs.plannedRoute != nil && len(obs.lostPaths) == 0", "obs.plannedRoute != nil"},
			{
				"the runtime config overrides the service", route,
				"routing.Resolve(layerOf(\"spec.routing\", service.Spec.Routing), layerOf(\"the runtime config\", below.Routing))",
				"routing.Resolve(layerOf(\"the runtime config\", below.Routing), layerOf(\"spec.routing\", service.Spec.Routing))",
			},
			{"the largest number of replicas is ignored", inference, "ptr.Deref(spec.MaxReplicas, minimum)", "minimum"},
			{"the size of a claim is rounded down", inference, "(bytes+extra+gi-1)/gi*gi", "(bytes+extra)/gi*gi"},
		},
	}
}
