package main

// maas has the defects of the models, the subscriptions, the auth policies and the tenant.
func maas() product {
	const (
		limits, subscription = "maas/subscription/limits.go", "maas/subscription/controller.go"
		access, authpolicy   = "maas/authpolicy/access.go", "maas/authpolicy/controller.go"
		rules, external      = "maas/authpolicy/rules.go", "maas/externalmodel/controller.go"
		modelref, outcome    = "maas/modelref/controller.go", "maas/modelref/outcome.go"
		tenant, settings     = "maas/tenant/controller.go", "maas/tenant/settings.go"
		status, policy       = "maas/tenant/status.go", "maas/backend/policy.go"
		model                = "maas/backend/model.go"
	)
	return product{
		runs: []run{
			{packages: []string{
				"./maas/api/...", "./maas/authpolicy", "./maas/backend", "./maas/externalmodel", "./maas/modelref", "./maas/subscription", "./maas/tenant",
			}},
			{tests: "Converge", packages: []string{"./maas/operator"}},
			{tests: "^TestOperator$", packages: []string{"./maas/operator"}, flags: []string{"-ginkgo.fail-fast"}},
		},
		defects: []defect{
			{"the largest limit is refused", limits, "rate.Limit > maxLimit", "rate.Limit >= maxLimit"},
			{"a window that is no time is taken", limits, "err != nil || window <= 0 || window > maxWindow", "err != nil && window != 0 || window < 0 || window > maxWindow"},
			{"the label of the model's namespace is forgotten on the limits", limits, "backend.ModelNamespaceLabel: l.Key.Namespace", ""},
			{"a subscription shares its priority with itself", subscription, "peer.UID != w.subscription.UID && ", ""},
			{"refused limits only degrade a subscription", subscription, "PhaseFailed, Message: refused", "PhaseDegraded, Message: refused"},
			{"names of users are not checked", access, "append(groupsOf(p), p.Spec.Subjects.Users...)...", "groupsOf(p)..."},
			{"an identity provider without a client counts", access, " || oidc.ClientID == \"\"", ""},
			{"the groups of an auth policy are read as null", rules, "return \"[]\"", "return \"null\""},
			{"the answers about rights outlive those about keys", rules, "min(r.AuthzTTL, r.MetadataTTL)", "r.AuthzTTL"},
			{"a missing model counts as one that is not ready", authpolicy, "missing++\n\t\t\tcontinue", "unready++\n\t\t\tcontinue"},
			{"a port that is no number is taken", external, "err != nil || len(validation.IsValidPortNum(int(port))) > 0", "err != nil && port != 0"},
			{"a model without TLS gets the rule for TLS", external, "o.tls = tls", "o.tls = o.tls || tls"},
			{"a policy that has opted out is deleted with its model", modelref, "policy.GetAnnotations()[backend.OptOutAnnotation] == \"false\"", "false"},
			{"the override of the endpoint is ignored", outcome, "override != \"\"", "override == \"-\""},
			{"the parent of a route is looked for in the route's namespace", outcome, "namespace = string(*ref.Namespace)", "_ = ref.Namespace"},
			{"a model that is being deleted still counts", model, "!m.Ref.Value.DeletionTimestamp.IsZero()", "false"},
			{"a policy without a condition is ready", policy, "c == nil {\n\t\t\treturn unready(not, name+\" condition not found\")", "c == nil {\n\t\t\tcontinue"},
			{"a tenant that is removed keeps its platform", tenant, "plan.Policy = apply.Withdraw", "plan.Policy = apply.Suspend"},
			{"the number of days that keys live is ignored", settings, "if s.MaxDays != nil {", "if false {"},
			{"a Secret without the key of the database is enough", status, "len(w.database.Value.Data[databaseKey]) == 0", "len(w.database.Value.Data) == 0"},
		},
	}
}
