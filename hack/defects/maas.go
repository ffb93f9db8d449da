package main

// maas returns the defects of the models, the subscriptions, the auth policies and the tenant.
func maas() product {
	const (
		limits, subscription = "maas/subscription/limits.go", "maas/subscription/controller.go"
		access, authpolicy   = "maas/authpolicy/access.go", "maas/authpolicy/controller.go"
		policies, external   = "maas/subscription/templates/policy.yaml", "maas/externalmodel/controller.go"
		modelref, outcome    = "maas/modelref/controller.go", "maas/modelref/outcome.go"
		tenant, settings     = "maas/tenant/controller.go", "maas/tenant/settings.go"
		status, policy       = "maas/tenant/status.go", "maas/models/policy.go"
		model, tally         = "maas/models/model.go", "maas/models/tally.go"
	)
	return product{
		runs: []run{
			{packages: []string{
				"./maas/api/...", "./maas/authpolicy", "./maas/models", "./maas/externalmodel", "./maas/modelref", "./maas/subscription", "./maas/tenant",
			}},
			{tests: "Converge", packages: []string{"./maas/operator"}},
			{tests: "^TestOperator$", packages: []string{"./maas/operator"}, flags: []string{"-ginkgo.fail-fast"}},
		},
		defects: []defect{
			{"the largest limit is rejected", limits, "rate.Limit > maxLimit", "rate.Limit >= maxLimit"},
			{"an invalid window is accepted", limits, "err != nil || window <= 0 || window > maxWindow", "err != nil && window != 0 || window < 0 || window > maxWindow"},
			{"the limits lack the label of the model's namespace", policies, "    maas.opendatahub.io/model-namespace: {{quote .Key.Namespace}}\n", ""},
			{"a subscription conflicts with its own priority", subscription, "peer.UID != obs.subscription.UID && ", ""},
			{"refused limits only degrade a subscription", tally, "phase, message = maasv1alpha1.PhaseFailed, t.Failed", "message = t.Failed"},
			{"names of users are not checked", access, "append(s.Groups, s.Users...)...", "s.Groups..."},
			{"an identity provider without a client counts", access, " || oidc.ClientID == \"\"", ""},
			{"the groups of an auth policy are read as null", access, "subjects{[]string{}, []string{}}", "subjects{}"},
			{"authorization results are cached longer than keys", access, "min(a.AuthzTTL, a.MetadataTTL)", "a.AuthzTTL"},
			{"a missing model counts as one that is not ready", authpolicy, "tally.Missing++\n\t\t\tcontinue", "tally.Unready++\n\t\t\tcontinue"},
			{"an invalid port is accepted", external, "wrong != nil || len(validation.IsValidPortNum(int(port))) > 0", "wrong != nil && port != 0"},
			{"a model without TLS gets the TLS rule", external, "f.TLS = tls", "f.TLS = f.TLS || tls"},
			{"a policy that has opted out is deleted with its model", modelref, "policy.GetAnnotations()[models.OptOutAnnotation] == \"false\"", "false"},
			{"the override of the endpoint is ignored", outcome, "cmp.Or(obs.model.Spec.EndpointOverride, endpoint)", "endpoint"},
			{"the parent of a route is looked for in the route's namespace", outcome, "ptr.Deref(ref.Namespace, gatewayv1.Namespace(namespace))", "gatewayv1.Namespace(namespace)"},
			{"a model that is being deleted still counts", model, "!m.Ref.Value.DeletionTimestamp.IsZero()", "false"},
			{"a policy without a condition is ready", policy, "c == nil {\n\t\t\treturn unready(not, name+\" condition not found\")", "c == nil {\n\t\t\tcontinue"},
			{"a removed tenant keeps its platform", tenant, "plan.Policy = apply.Withdraw", "plan.Policy = apply.Suspend"},
			{"the lifetime of keys in days is ignored", settings, "if s.MaxDays != nil {", "if false {"},
			{"a Secret without the database key is accepted", status, "len(obs.database.Value.Data[databaseKey]) == 0", "len(obs.database.Value.Data) == 0"},
		},
	}
}
