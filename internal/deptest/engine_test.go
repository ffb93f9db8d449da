package deptest_test

// engineLayers returns the layers of the engine and its packages, from the lowest to the highest.
func engineLayers() map[string][]string {
	const (
		parts = "reconcile/apply/internal/"
		group = "reconcile/internal/groupkey"
	)
	pure := []string{parts + "content", parts + "fieldset"}
	plan := append([]string{"reconcile/apply", parts + "applyset", group}, pure...)
	return map[string][]string{
		"reconcile/apply":  {parts + "applyset"},
		group:              {"reconcile/apply"},
		parts + "applyset": nil,
		parts + "content":  nil,
		parts + "fieldset": {parts + "content"},
		parts + "intent":   plan,
		parts + "memory":   append([]string{"reconcile/internal/freshness", parts + "intent"}, plan...),
		"reconcile/apply/engine": append([]string{
			"naming", "reconcile/internal/freshness", "reconcile/internal/conditionlist", parts + "intent", parts + "memory",
		}, plan...),
	}
}
