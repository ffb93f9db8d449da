package main

// modelregistry has the defects of the catalog.
func modelregistry() product {
	const reconciler, children, sources = "modelregistry/catalog/reconciler.go", "modelregistry/catalog/children.go", "modelregistry/catalog/sources.go"
	return product{
		folder: "modelregistry",
		runs:   [][]string{{"-test.run=^TestCatalogConverges$", "-test.timeout=10m"}},
		defects: []defect{
			{
				"the error of a read is taken for an empty document", sources,
				"if found.HasError() {\n\t\treturn nil, nil ", "if found.HasError() {\n\t\treturn &document{}, nil ",
			},
			{"the server's existence is not asked for", children, "on(f) && f.Server != nil", "on(f)"},
			{"the condition of the administrators' rights is swapped", children, "len(f.Groups) > 0", "len(f.Groups) == 0"},
			{
				"the retired ConfigMap is not deleted", reconciler,
				"plan.Delete(&corev1.ConfigMap{ObjectMeta: retired}, apply.MatchLabels{createdBy: operator})", "",
			},
			{"what is made stays when the catalog is switched off", children, "off = children.Delete", "off = children.Keep"},
			{"the password is drawn anew each time", children, "secrets.Rules(f.Credentials)", "secrets.Rules(nil)"},
			{"the read of the administrators is skipped", reconciler, "client.ObjectKey{Name: \"auth\"}", "client.ObjectKey{Name: \"none\"}"},
			{"the platform's object owns nothing", children, "o.SetOwnerReferences(f.Platform)", "o.SetOwnerReferences(nil)"},
		},
	}
}
