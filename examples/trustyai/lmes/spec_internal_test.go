package lmes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

func valid() *v1alpha1.LMEvalJobSpec {
	return &v1alpha1.LMEvalJobSpec{
		Model: "hf", ModelArgs: []v1alpha1.Argument{{Name: "pretrained", Value: "google/flan-t5-base"}},
		TaskList: v1alpha1.TaskList{TaskNames: []v1alpha1.TaskName{"task1"}},
	}
}

func recipes(custom v1alpha1.CustomArtifacts, list ...v1alpha1.TaskRecipe) func(*v1alpha1.LMEvalJobSpec) {
	return func(s *v1alpha1.LMEvalJobSpec) { s.TaskList = v1alpha1.TaskList{TaskRecipes: list, Custom: &custom} }
}

func git(source v1alpha1.GitSource) func(*v1alpha1.LMEvalJobSpec) {
	return func(s *v1alpha1.LMEvalJobSpec) {
		s.TaskList.CustomTasks = &v1alpha1.CustomTasks{Source: v1alpha1.TaskSource{Git: &source}}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	key := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}
	oci := func(change func(*v1alpha1.OCIRegistry)) func(*v1alpha1.LMEvalJobSpec) {
		return func(s *v1alpha1.LMEvalJobSpec) {
			o := &v1alpha1.OCIRegistry{Registry: key, Repository: "r"}
			change(o)
			s.Outputs = &v1alpha1.Outputs{OCI: o}
		}
	}
	bucket := func(path string) func(*v1alpha1.LMEvalJobSpec) {
		return func(s *v1alpha1.LMEvalJobSpec) {
			s.Offline = &v1alpha1.Offline{Storage: v1alpha1.OfflineStorage{S3: &v1alpha1.S3{Path: path}}}
		}
	}
	card := v1alpha1.Card{Name: "cards.x"}
	refer := func(name string) *v1alpha1.Artifact { return &v1alpha1.Artifact{Ref: name} }
	artifact := func(value string) []v1alpha1.CustomArtifact {
		return []v1alpha1.CustomArtifact{{Name: "a", Value: value}}
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.LMEvalJobSpec)
		want   string // empty: valid
	}{
		"valid": {change: func(*v1alpha1.LMEvalJobSpec) {}},
		"model": {func(s *v1alpha1.LMEvalJobSpec) { s.Model = "x" }, `Input validation failed: invalid model: "x"`},
		"empty value": {
			func(s *v1alpha1.LMEvalJobSpec) { s.ModelArgs[0].Value = "" },
			"Input validation failed: invalid model arguments: model argument[0] value",
		},
		"shell": {func(s *v1alpha1.LMEvalJobSpec) { s.ModelArgs[0].Value = "a;b" }, "model argument[0] value"},
		"argument name": {
			func(s *v1alpha1.LMEvalJobSpec) { s.GenArgs = []v1alpha1.Argument{{Name: "$", Value: "1"}} },
			"generation argument[0] name",
		},
		"task":            {func(s *v1alpha1.LMEvalJobSpec) { s.TaskList.TaskNames[0] = "a b" }, "task name[0]"},
		"task with group": {change: func(s *v1alpha1.LMEvalJobSpec) { s.TaskList.TaskNames[0] = "a(b)" }},
		"limit":           {func(s *v1alpha1.LMEvalJobSpec) { s.Limit = "5." }, "invalid limit"},
		"share":           {change: func(s *v1alpha1.LMEvalJobSpec) { s.Limit = ".5" }},
		"batch":           {func(s *v1alpha1.LMEvalJobSpec) { s.BatchSize = new("many") }, "invalid batch size"},
		"automatic batch": {change: func(s *v1alpha1.LMEvalJobSpec) { s.BatchSize = new("auto:4") }},
		"size": {func(s *v1alpha1.LMEvalJobSpec) {
			s.Outputs = &v1alpha1.Outputs{PVCManaged: &v1alpha1.ManagedClaim{Size: "big"}}
		}, `pvcManaged.size "big"`},
		"only a registry": {oci(func(*v1alpha1.OCIRegistry) {}), "either username and password"},
		"only a user":     {oci(func(o *v1alpha1.OCIRegistry) { o.Username = &key }), "either username and password"},
		"both": {
			oci(func(o *v1alpha1.OCIRegistry) { o.Username, o.Password, o.DockerConfigJSON = &key, &key, &key }),
			"either username and password",
		},
		"user":        {change: oci(func(o *v1alpha1.OCIRegistry) { o.Username, o.Password = &key, &key })},
		"file":        {change: oci(func(o *v1alpha1.OCIRegistry) { o.DockerConfigJSON = &key })},
		"no registry": {oci(func(o *v1alpha1.OCIRegistry) { o.DockerConfigJSON, o.Registry.Key = &key, "" }), "oci.registry"},
		"bucket":      {change: bucket("models/a..b")},
		"bucket up":   {bucket("models/../x"), "s3.path"},
		"bucket here": {bucket("./x"), "s3.path"},
		"git":         {change: git(v1alpha1.GitSource{URL: "https://g/x", Branch: new("main"), Commit: new("0123abc"), Path: "tasks"})},
		"git url":     {git(v1alpha1.GitSource{URL: "http://g/x"}), "git.url"},
		"git branch":  {git(v1alpha1.GitSource{URL: "https://g/x", Branch: new("a b")}), "git.branch"},
		"git commit":  {git(v1alpha1.GitSource{URL: "https://g/x", Commit: new("0123ab")}), "git.commit"},
		"git path":    {git(v1alpha1.GitSource{URL: "https://g/x", Path: "a/../../b"}), "git.path"},
		"no card":     {recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{}), "the card of task recipe 0"},
		"custom card": {recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{Card: v1alpha1.Card{Custom: `{}`}}), "loader is missing"},
		"no JSON":     {recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{Card: v1alpha1.Card{Custom: `x`}}), "not a JSON object"},
		"template ref": {
			recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{Card: card, Template: refer("nope")}),
			"the reference name of the custom template is not defined: nope",
		},
		"prompt ref": {
			recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{Card: card, SystemPrompt: refer("nope")}),
			"the reference name of the custom system prompt is not defined: nope",
		},
		"metric ref": {
			recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{Card: card, Metrics: []v1alpha1.Artifact{{Name: "m"}, {Ref: "nope"}}}),
			"the reference name of the custom metric is not defined: nope",
		},
		"task ref": {
			recipes(v1alpha1.CustomArtifacts{}, v1alpha1.TaskRecipe{Card: card, Task: refer("nope")}),
			"the reference name of the custom task is not defined: nope",
		},
		"prompt": {change: recipes(
			v1alpha1.CustomArtifacts{SystemPrompts: artifact("be nice")}, v1alpha1.TaskRecipe{Card: card, SystemPrompt: refer("a")},
		)},
		"template": {
			recipes(v1alpha1.CustomArtifacts{Templates: artifact(`{"input_format":""}`)}),
			"the custom template a is invalid: output_format is missing",
		},
		"metric":     {recipes(v1alpha1.CustomArtifacts{Metrics: artifact(`{}`)}), "the custom metric a is invalid: __type__ is missing"},
		"other type": {recipes(v1alpha1.CustomArtifacts{Tasks: artifact(`{"__type__":"x","input_fields":{}}`)}), "want task"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := valid()
			c.change(spec)
			got := validate(spec)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings settings
		change   func(*v1alpha1.LMEvalJobSpec)
		want     string // arguments after the output path
	}{
		"plain": {settings{port: defaultPort}, func(*v1alpha1.LMEvalJobSpec) {}, ""},
		"port":  {settings{port: 1, detectDevice: true}, func(*v1alpha1.LMEvalJobSpec) {}, "--detect-device --listen-port 1"},
		"asked": {settings{port: defaultPort}, func(s *v1alpha1.LMEvalJobSpec) { s.AllowOnline = new(true) }, ""},
		"online": {
			settings{port: defaultPort, permitOnline: true},
			func(s *v1alpha1.LMEvalJobSpec) { s.AllowOnline = new(true) },
			"--allow-online",
		},
		"stores": {settings{port: defaultPort}, func(s *v1alpha1.LMEvalJobSpec) {
			s.Offline = &v1alpha1.Offline{Storage: v1alpha1.OfflineStorage{S3: &v1alpha1.S3{}}}
			s.Outputs = &v1alpha1.Outputs{OCI: &v1alpha1.OCIRegistry{}}
		}, "--download-assets-s3 --upload-to-oci"},
		"git": {
			settings{port: defaultPort},
			git(v1alpha1.GitSource{URL: "https://g/x", Branch: new("main"), Commit: new("0123abc"), Path: "p"}),
			"--custom-task-git-url https://g/x --custom-task-git-branch main --custom-task-git-commit 0123abc --custom-task-git-path p --task-name task1",
		},
		"recipes": {settings{port: defaultPort}, recipes(
			v1alpha1.CustomArtifacts{
				SystemPrompts: []v1alpha1.CustomArtifact{{Name: "s", Value: "nice"}},
				Templates:     []v1alpha1.CustomArtifact{{Name: "t", Value: "{}"}},
			},
			v1alpha1.TaskRecipe{
				Card: v1alpha1.Card{Name: "cards.x"}, Template: &v1alpha1.Artifact{Name: "templates.y"}, Format: new("f"),
				NumDemos: new(0),
			},
			v1alpha1.TaskRecipe{
				Card: v1alpha1.Card{Custom: "{c}"}, Template: &v1alpha1.Artifact{Ref: "t"}, SystemPrompt: &v1alpha1.Artifact{Ref: "s"},
				Task: &v1alpha1.Artifact{Name: "tasks.z"}, Metrics: []v1alpha1.Artifact{{Name: "m"}, {Ref: "n"}}, LoaderLimit: new(1),
				DemosPoolSize: new(2),
			},
		), "--task-recipe card=cards.x,template=templates.y,format=f,num_demos=0 --custom-artifact card|custom_0|{c} " +
			"--task-recipe card=cards.custom_0,template=templates.t,system_prompt=system_prompts.s,task=tasks.z,metrics=[m,metrics.n],loader_limit=1,demos_pool_size=2 " +
			"--custom-artifact template|t|{} --custom-artifact system_prompt|s|nice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := valid()
			c.change(spec)
			want := strings.Join(strings.Fields(driver+" --output-path "+outputPath+" "+c.want+" --"), " ")
			if diff := cmp.Diff(want, strings.Join(command(spec, c.settings), " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnsafeCode checks that the evaluation may run remote code only if the operator permits it.
func TestUnsafeCode(t *testing.T) {
	t.Parallel()
	spec := valid()
	spec.AllowCodeExecution = new(true)
	for _, permitted := range []bool{false, true} {
		got := arguments(spec, settings{permitExecution: permitted})
		if (got[len(got)-1] == "--confirm_run_unsafe_code") != permitted {
			t.Errorf("permitted %t: %v", permitted, got)
		}
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	s := settings{maxBatch: 24, defaultBatch: "8"}
	for size, want := range map[string]string{"auto": "auto", "auto:2": "auto:2", "auto:0": "auto:24", "64": "24", "3": "3", "0": "1", "x": "1"} {
		if got := s.batch(&size); got != want {
			t.Errorf("%s: got %s, want %s", size, got, want)
		}
	}
	if got := s.batch(nil); got != "8" {
		t.Errorf("unset: got %s", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	file := func(data map[string]string) reconcile.FetchResult[*corev1.ConfigMap] {
		return reconcile.FetchResult[*corev1.ConfigMap]{Value: &corev1.ConfigMap{Data: data}}
	}
	bad := file(map[string]string{
		"lmes-image-pull-policy": "x", "lmes-max-batch-size": "x", "lmes-driver-port": "-1",
		"lmes-detect-device": "x", "lmes-allow-online": "x", "lmes-allow-code-execution": "x",
	})
	none := reconcile.FetchResult[*corev1.ConfigMap]{}
	if got := settingsOf(bad, none); got != settingsOf(none, none) {
		t.Errorf("an invalid value changes %+v", got)
	}
	for text, want := range map[string]time.Duration{"": 10 * time.Second, "x": 10 * time.Second, "0s": 10 * time.Second, "-1s": 10 * time.Second, "1m": time.Minute} {
		if got := settingsOf(file(map[string]string{"lmes-pod-checking-interval": text}), none); got.interval != want {
			t.Errorf("interval %q: got %s, want %s", text, got.interval, want)
		}
	}
	both := file(map[string]string{"lmes-allow-online": "true", "lmes-allow-code-execution": "true"})
	if got := settingsOf(both, none); !got.permitOnline || !got.permitExecution {
		t.Errorf("got %+v", got)
	}
	if got := settingsOf(both, file(map[string]string{"eval.lmeval.permitCodeExecution": "true"})); got.permitOnline || !got.permitExecution {
		t.Errorf("the platform's settings do not replace both: %+v", got)
	}
}

func TestVerifies(t *testing.T) {
	t.Parallel()
	url, own := v1alpha1.Argument{Name: "base_url", Value: "HTTPS://x"}, v1alpha1.Argument{Name: "verify_certificate", Value: "x"}
	for want, arguments := range map[bool][]v1alpha1.Argument{true: {url}, false: {url, own}} {
		if got := verifies(&v1alpha1.LMEvalJobSpec{ModelArgs: arguments}); got != want {
			t.Errorf("%v: got %t", arguments, got)
		}
	}
}
