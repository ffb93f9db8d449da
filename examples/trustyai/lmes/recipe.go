package lmes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// family is a kind of custom artifacts.
type family struct {
	// kind is the name in the driver, title the name in errors, catalogue the prefix of a reference.
	kind, title, catalogue string
	artifacts              []v1alpha1.CustomArtifact
	required               []string // keys of the JSON, nil for plain text
}

// families returns the custom artifacts in the order of the driver's arguments.
func families(tasks *v1alpha1.TaskList) []family {
	custom := ptr.Deref(tasks.Custom, v1alpha1.CustomArtifacts{})
	return []family{
		{"template", "template", "templates.", custom.Templates, []string{"input_format", "output_format"}},
		{"system_prompt", "system prompt", "system_prompts.", custom.SystemPrompts, nil},
		{"metric", "metric", "metrics.", custom.Metrics, []string{"__type__"}},
		{"task", "task", "tasks.", custom.Tasks, []string{"__type__", "input_fields"}},
	}
}

// checkRecipes returns an error for the first invalid custom artifact, and for the first reference to a missing one.
func checkRecipes(tasks *v1alpha1.TaskList) error {
	all := families(tasks)
	for _, f := range all {
		for _, a := range f.artifacts {
			if err := f.check(a); err != nil {
				return err
			}
		}
	}
	for i := range tasks.TaskRecipes {
		r := &tasks.TaskRecipes[i]
		if r.Card.Custom != "" {
			if _, err := object(r.Card.Custom, "loader"); err != nil {
				return fmt.Errorf("the custom card of task recipe %d is invalid: %w", i, err)
			}
		} else if r.Card.Name == "" {
			return fmt.Errorf("the card of task recipe %d must have a name or be custom", i)
		}
		none := v1alpha1.Artifact{}
		for j, used := range [][]v1alpha1.Artifact{
			{ptr.Deref(r.Template, none)}, {ptr.Deref(r.SystemPrompt, none)}, r.Metrics, {ptr.Deref(r.Task, none)},
		} {
			for _, a := range used {
				if a.Ref != "" && !slices.ContainsFunc(all[j].artifacts, func(c v1alpha1.CustomArtifact) bool { return c.Name == a.Ref }) {
					return fmt.Errorf("the reference name of the custom %s is not defined: %s", all[j].title, a.Ref)
				}
			}
		}
	}
	return nil
}

func (f family) check(a v1alpha1.CustomArtifact) error {
	if f.required == nil {
		return nil
	}
	value, err := object(a.Value, f.required...)
	if err == nil && f.kind == "task" && value["__type__"] != "task" {
		err = fmt.Errorf("__type__ is %v, want task", value["__type__"])
	}
	if err != nil {
		return fmt.Errorf("the custom %s %s is invalid: %w", f.title, a.Name, err)
	}
	return nil
}

// object parses a JSON object that must have the keys.
func object(text string, keys ...string) (map[string]any, error) {
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	for _, key := range keys {
		if _, there := value[key]; !there {
			return nil, fmt.Errorf("%s is missing", key)
		}
	}
	return value, nil
}

// recipeFlags returns the arguments of the driver for the recipes and their artifacts.
func recipeFlags(tasks *v1alpha1.TaskList) (flags []string) {
	cards := 0
	for i := range tasks.TaskRecipes {
		r := &tasks.TaskRecipes[i]
		card := r.Card.Name
		if r.Card.Custom != "" {
			name := "custom_" + strconv.Itoa(cards)
			cards++
			card = "cards." + name
			flags = append(flags, "--custom-artifact", "card|"+name+"|"+r.Card.Custom)
		}
		flags = append(flags, "--task-recipe", recipe(r, card))
	}
	for _, f := range families(tasks) {
		for _, a := range f.artifacts {
			flags = append(flags, "--custom-artifact", f.kind+"|"+a.Name+"|"+a.Value)
		}
	}
	return flags
}

// recipe returns a recipe in the format of the driver.
func recipe(r *v1alpha1.TaskRecipe, card string) string {
	out := "card=" + card
	add := func(key, value string) { out += "," + key + "=" + value }
	one := func(key, catalogue string, a *v1alpha1.Artifact) {
		if a != nil {
			add(key, named(catalogue, *a))
		}
	}
	one("template", "templates.", r.Template)
	one("system_prompt", "system_prompts.", r.SystemPrompt)
	one("task", "tasks.", r.Task)
	if len(r.Metrics) > 0 {
		var metrics []string
		for _, m := range r.Metrics {
			metrics = append(metrics, named("metrics.", m))
		}
		add("metrics", "["+strings.Join(metrics, ",")+"]")
	}
	if r.Format != nil {
		add("format", *r.Format)
	}
	number := func(key string, value *int) {
		if value != nil {
			add(key, strconv.Itoa(*value))
		}
	}
	number("loader_limit", r.LoaderLimit)
	number("num_demos", r.NumDemos)
	number("demos_pool_size", r.DemosPoolSize)
	return out
}

// named returns the name of an artifact in its catalogue.
func named(catalogue string, a v1alpha1.Artifact) string {
	if a.Ref != "" {
		return catalogue + a.Ref
	}
	return a.Name
}
