package deptest_test

// engineFloors are those of the engine and of the packages that it stands on, each above those before it.
func engineFloors() map[string][]string {
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
